#include "scheduler/simulator/cluster_simulation.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/cluster_state.h"
#include "scheduler/core/planner.h"
#include "scheduler/core/snapshot_builder.h"
#include "scheduler/core/state_print.h"
#include "scheduler/core/step.h"
#include "scheduler/model/index_ranges.h"
#include "scheduler/simulator/processor_map.h"

namespace muster {
namespace {

using Tick = std::int64_t;  // seconds of the trace

constexpr Tick kNever = std::numeric_limits<Tick>::max();
// 2000-01-01 00:00 UTC is the trace's time 0.
constexpr Time kBeginning{Duration(946'684'800'000)};
constexpr std::uint64_t kInstantsBetweenQuestions = 256;
constexpr std::uint32_t kFirstUid = 100'000;
constexpr std::uint32_t kNobody = 99'999;
// A pass that is followed by another at the same instant so often has a defect.
constexpr int kPassesAtOnceMax = 10'000;

Time TimeOf(Tick tick) {
  return kBeginning + std::chrono::seconds(tick);
}

// The first whole second that is not before.
Tick TickOf(Time time) {
  return std::chrono::ceil<std::chrono::seconds>(time - kBeginning).count();
}

User Operator() {
  return User{0, 0, "root"};
}

// A job from its arrival to its end.
struct Live {
  TraceJob job;
  std::uint32_t generation = 0;  // of its end: an end that was foreseen before counts no more
  Tick start = 0;
  Tick left = 0;  // of its run time, when it last went on
  Tick since = 0;
  bool overtook = false;
  ProcessorRanges processors;
  std::int64_t asked = 0;  // hardware threads
  std::uint32_t nodes = 0;
  std::uint32_t gpus = 0;
};

// The numbers of a node's hardware threads in the cluster.
struct Processors {
  std::int64_t first = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> threads;  // sorted
};

class ClusterSimulation {
 public:
  ClusterSimulation(const ClusterRun& run, Arrivals arrivals, FlatObserver& observer)
      : run_(run), observer_(observer), arrivals_(std::move(arrivals)), config_(run.config) {}

  absl::StatusOr<ClusterResult> Run();

 private:
  // When, in which order of starts, whose, and which of the ends foreseen for it.
  using Ending = std::tuple<Tick, std::uint64_t, JobId, std::uint32_t>;

  absl::Status SetUp();
  absl::Status Refuse(const std::string& why);
  absl::Status Arrive(const TraceJob& job);
  [[nodiscard]] JobSpec SpecOf(const TraceJob& job) const;
  [[nodiscard]] std::string KnownName(PolicyKind kind, const NameTable& names, const char* prefix,
                                      std::int64_t number) const;
  absl::StatusOr<bool> RunInstant();
  absl::Status EndNext();
  absl::Status EndOn(JobId id, const std::vector<NodeId>& nodes, EndCause cause);
  absl::Status PassUntilDone();
  absl::Status Pass();
  absl::Status DropHopeless(const Plan& plan);
  absl::Status Take(const Input& input, Turn* turn = nullptr);
  absl::Status Answer(const std::vector<Effect>& effects);
  void Note(const Event& event, std::vector<JobId>& ended);
  void NoteStart(const AttemptStarted& start);
  void AddProcessors(const NodeAllocation& part, ProcessorRanges& ranges) const;
  void Stop(JobId id, bool for_good);
  void GoOn(JobId id);
  absl::Status Finish(JobId id);
  void Report(FlatProgress* progress) const;

  const ClusterRun& run_;
  FlatObserver& observer_;
  Arrivals arrivals_;
  const PolicyConfig config_;
  ClusterState state_;
  SnapshotBuilder snapshots_;
  PlannerMemory memory_;
  std::shared_ptr<const Plan> last_plan_;
  std::map<NodeId, Processors> processors_;
  std::map<JobId, Live> live_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  std::uint64_t starts_ = 0;
  bool plan_wanted_ = false;
  Tick now_ = 0;
  ScheduleRow row_;
  ClusterResult result_;
};

// The cluster as it is before the first job: an epoch, the policy, the nodes.
absl::Status ClusterSimulation::SetUp() {
  RETURN_IF_ERROR(Take(BeginEpoch{}));
  RETURN_IF_ERROR(Take(ConfigurePolicy{run_.policy, Operator(), "the cluster"}));
  std::int64_t processors = 0;
  for (const NodeClass& nodes : run_.nodes) {
    const auto threads =
        std::make_shared<const std::vector<std::uint32_t>>(AllCpus(nodes.machine).Members());
    for (std::uint32_t i = 1; i <= nodes.count; ++i) {
      Registration registration;
      registration.name = absl::StrCat(nodes.name, i);
      registration.hostname = registration.name;
      registration.instance = "simulated";
      registration.boot_id = "simulated";
      registration.machine = nodes.machine;
      registration.features = nodes.features;
      registration.weight = nodes.weight;
      Turn turn;
      RETURN_IF_ERROR(Take(RegisterAgent{std::move(registration)}, &turn));
      processors_[turn.node] = Processors{processors, threads};
      processors += static_cast<std::int64_t>(threads->size());
      result_.gpus += nodes.machine.gpus.size();
    }
  }
  result_.schedule.processors = processors;
  return absl::OkStatus();
}

// One input through the scheduler, and the agents' answers to what it asks of them.
absl::Status ClusterSimulation::Take(const Input& input, Turn* answer) {
  Turn turn = Step(state_, input, TimeOf(now_), config_);
  if (!turn.status.ok()) {
    return turn.status;
  }
  std::vector<JobId> ended;
  for (const Event& event : turn.events) {
    Note(event, ended);
    state_.Apply(event);
  }
  for (const JobId id : ended) {
    RETURN_IF_ERROR(Finish(id));
  }
  const std::vector<Effect> effects = std::move(turn.effects);
  if (answer != nullptr) {
    *answer = std::move(turn);
  }
  return Answer(effects);
}

absl::Status ClusterSimulation::Answer(const std::vector<Effect>& effects) {
  const auto report = [this](JobId id, NodeId node, Fact fact) {
    const Job& job = *state_.FindJob(id);
    const NodeRun& run = job.attempt->runs[*RunOn(*job.attempt, node)];
    return Take(TakeReport{
        node, muster::Report{id, job.attempt->number, run.reported + 1, std::move(fact)}});
  };
  for (const Effect& effect : effects) {
    if (std::holds_alternative<Replan>(effect)) {
      plan_wanted_ = true;
    } else if (const auto* end = std::get_if<Terminate>(&effect)) {
      RETURN_IF_ERROR(EndOn(end->job, {end->node}, end->cause));
    } else if (const auto* stop = std::get_if<Suspend>(&effect)) {
      RETURN_IF_ERROR(
          report(stop->job, stop->node, RunSuspended{TimeOf(now_), stop->suspension, false}));
    } else if (const auto* go = std::get_if<Resume>(&effect)) {
      RETURN_IF_ERROR(report(go->job, go->node, RunSuspended{TimeOf(now_), go->suspension, true}));
    }
  }
  return absl::OkStatus();
}

// The attempt is over on these nodes.
absl::Status ClusterSimulation::EndOn(JobId id, const std::vector<NodeId>& nodes, EndCause cause) {
  for (const NodeId node : nodes) {
    const Job* job = state_.FindJob(id);
    if (job == nullptr || !job->attempt.has_value()) {
      return absl::OkStatus();
    }
    const NodeRun& run = job->attempt->runs[*RunOn(*job->attempt, node)];
    RunEnded ended;
    ended.time = TimeOf(now_);
    ended.cause = cause;
    RETURN_IF_ERROR(
        Take(TakeReport{node, muster::Report{id, job->attempt->number, run.reported + 1, ended}}));
  }
  return absl::OkStatus();
}

void ClusterSimulation::Note(const Event& event, std::vector<JobId>& ended) {
  if (const auto* start = std::get_if<AttemptStarted>(&event)) {
    NoteStart(*start);
  } else if (const auto* end = std::get_if<JobEnded>(&event)) {
    ended.push_back(end->job);
  } else if (const auto* again = std::get_if<JobRequeued>(&event)) {
    Stop(again->job, true);
  } else if (const auto* frozen = std::get_if<AttemptSuspended>(&event)) {
    Stop(frozen->job, false);
  } else if (const auto* thawed = std::get_if<AttemptResumed>(&event)) {
    GoOn(thawed->job);
  } else if (const auto* ending = std::get_if<AttemptEnding>(&event)) {
    result_.preemptions +=
        ending->cause == EndCause::kPreempted || ending->cause == EndCause::kPreemptedToRequeue ? 1
                                                                                                : 0;
  }
}

void ClusterSimulation::NoteStart(const AttemptStarted& start) {
  Live& live = live_.at(start.job);
  live.start = now_;
  live.left = live.job.run_time;
  live.nodes = static_cast<std::uint32_t>(start.allocation.nodes.size());
  live.gpus = 0;
  live.processors.clear();
  for (const NodeAllocation& part : start.allocation.nodes) {
    AddProcessors(part, live.processors);
    live.gpus += static_cast<std::uint32_t>(part.gpus.size());
  }
  std::sort(live.processors.begin(), live.processors.end());
  GoOn(start.job);
}

// The part's hardware threads, by their numbers in the cluster.
void ClusterSimulation::AddProcessors(const NodeAllocation& part, ProcessorRanges& ranges) const {
  const Processors& node = processors_.at(part.node);
  for (const std::uint32_t cpu : part.cpus.Members()) {
    const auto place = std::lower_bound(node.threads->begin(), node.threads->end(), cpu);
    const std::int64_t number = node.first + (place - node.threads->begin());
    if (!ranges.empty() && ranges.back().second == number - 1) {
      ranges.back().second = number;
    } else {
      ranges.emplace_back(number, number);
    }
  }
}

// The job runs on from now.
void ClusterSimulation::GoOn(JobId id) {
  Live& live = live_.at(id);
  live.since = now_;
  endings_.emplace(now_ + live.left, ++starts_, id, ++live.generation);
}

// The job does not run from now on; for good: what it did is lost.
void ClusterSimulation::Stop(JobId id, bool for_good) {
  Live& live = live_.at(id);
  ++live.generation;
  live.left -= now_ - live.since;
  if (for_good) {
    result_.lost_seconds += static_cast<std::uint64_t>(now_ - live.start);
  }
}

// The job has left the state: its row, unless it never ran.
absl::Status ClusterSimulation::Finish(JobId id) {
  const auto found = live_.find(id);
  Live& live = found->second;
  if (live.nodes == 0) {
    live_.erase(found);
    return absl::OkStatus();
  }
  row_.job_id = live.job.id;
  row_.submission_time = live.job.submit;
  row_.requested_resources = live.asked;
  row_.requested_time = live.job.requested_time;
  row_.starting_time = live.start;
  row_.execution_time = std::max<Tick>(1, now_ - live.start);
  row_.success = !live.job.cut_off && now_ - live.since == live.left;
  row_.reason = live.overtook ? "backfilled" : "head";
  row_.user = live.job.user;
  row_.group = live.job.group;
  row_.partition = live.job.partition;
  row_.gpus = live.gpus;
  row_.nodes = live.nodes;
  row_.allocated_resources.clear();
  AppendRanges(live.processors, &row_.allocated_resources);
  result_.gpu_seconds += static_cast<std::uint64_t>(row_.execution_time) * live.gpus;
  ++result_.schedule.ended;
  live_.erase(found);
  return observer_.Ended(row_);
}

// What the policy calls a partition, queue or group of the trace: its name, or, where the trace has
// numbers only, p1, q1, g1; empty where the policy has none of that name.
std::string ClusterSimulation::KnownName(PolicyKind kind, const NameTable& names,
                                         const char* prefix, std::int64_t number) const {
  if (number < 0) {
    return "";
  }
  const PolicyBook& book = state_.policy().book();
  const std::string name = names.NameOf(number);
  for (const std::string& candidate : {name, absl::StrCat(prefix, name)}) {
    if (Has(book, kind, candidate)) {
      return candidate;
    }
  }
  return "";
}

JobSpec ClusterSimulation::SpecOf(const TraceJob& job) const {
  JobSpec spec;
  spec.name = absl::StrCat(job.id);
  const TraceNames& names = arrivals_.reader().names();
  spec.user.name = job.user < 0 ? "nobody" : absl::StrCat("u", names.users.NameOf(job.user));
  spec.user.uid = job.user < 0 ? kNobody : kFirstUid + static_cast<std::uint32_t>(job.user);
  spec.user.gid = spec.user.uid;
  ResourceRequest& request = spec.request;
  spec.partition = KnownName(PolicyKind::kPartition, names.partitions, "p", job.partition);
  spec.qos = KnownName(PolicyKind::kQos, names.queues, "q", job.queue);
  spec.account = KnownName(PolicyKind::kAccount, names.groups, "g", job.group);
  if (job.gpus > 0) {
    request.tasks = static_cast<std::uint32_t>(job.gpus);
    request.gpus_per_task.count = 1;
    request.cpus_per_task =
        static_cast<std::uint32_t>(std::max<std::int64_t>(1, job.processors / job.gpus));
  } else {
    request.tasks = static_cast<std::uint32_t>(job.processors);
  }
  if (job.memory_mib > 0) {
    const std::int64_t threads = std::int64_t{request.tasks} * request.cpus_per_task;
    request.memory_per_cpu = Bytes(static_cast<std::uint64_t>(job.memory_mib / threads) << 20U);
  }
  Tick estimate = job.requested_time;
  estimate = run_.estimates == Estimates::kExact    ? job.run_time
             : run_.estimates == Estimates::kDouble ? 2 * job.requested_time
                                                    : estimate;
  spec.time_limit = std::chrono::seconds(estimate);
  return spec;
}

absl::Status ClusterSimulation::Refuse(const std::string& why) {
  if (++result_.refused == 1) {
    result_.first_refusal = why;
  }
  return absl::OkStatus();
}

absl::Status ClusterSimulation::Arrive(const TraceJob& job) {
  SubmitJob submit;
  submit.token = absl::StrCat("job-", job.id);
  submit.spec = SpecOf(job);
  submit.program.script = "#!\n";
  const JobId next = state_.next_job();
  Live& live = live_[next];
  live.job = job;
  live.asked = std::int64_t{submit.spec.request.tasks} * submit.spec.request.cpus_per_task;
  const absl::Status taken = Take(submit);
  if (!taken.ok()) {
    live_.erase(next);
    return Refuse(absl::StrCat("job ", job.id, ": ", std::string(taken.message())));
  }
  ++result_.schedule.jobs;
  return absl::OkStatus();
}

// The next job's end, if it is still foreseen.
absl::Status ClusterSimulation::EndNext() {
  const auto [tick, number, id, generation] = endings_.top();
  endings_.pop();
  const auto found = live_.find(id);
  if (found == live_.end() || found->second.generation != generation) {
    return absl::OkStatus();
  }
  std::vector<NodeId> nodes;
  for (const NodeAllocation& part : state_.FindJob(id)->attempt->allocation.nodes) {
    nodes.push_back(part.node);
  }
  const TraceJob& job = found->second.job;
  return EndOn(id, nodes, job.cut_off ? EndCause::kTimeLimit : EndCause::kExited);
}

// Jobs that can never start here go, so that they do not stand in the way for ever.
absl::Status ClusterSimulation::DropHopeless(const Plan& plan) {
  for (const LeftWaiting& left : plan.waiting) {
    if (left.reason.verdict != ReasonClass::kNever) {
      continue;
    }
    const std::int64_t number = live_.at(left.job).job.id;
    RETURN_IF_ERROR(Take(CancelJob{left.job, std::nullopt, Operator()}));
    --result_.schedule.jobs;
    RETURN_IF_ERROR(Refuse(absl::StrCat("job ", number, ": ", ToSentence(left.reason))));
  }
  return absl::OkStatus();
}

absl::Status ClusterSimulation::Pass() {
  const auto snapshot = snapshots_.Build(state_, TimeOf(now_), last_plan_.get(), config_.network);
  last_plan_ = std::make_shared<const Plan>(MakePlan(snapshot, config_, memory_));
  ++result_.passes;
  JobId oldest_left;  // the oldest job that is left waiting for resources
  for (const LeftWaiting& left : last_plan_->waiting) {
    if (!oldest_left.valid() || left.job < oldest_left) {
      oldest_left = left.job;
    }
  }
  for (const PlannedStart& start : last_plan_->starts) {
    live_.at(start.job).overtook = oldest_left.valid() && oldest_left < start.job;
  }
  const std::shared_ptr<const Plan> plan = last_plan_;
  if (!plan->starts.empty() || !plan->drops.empty() || !plan->preemptions.empty() ||
      !plan->resumes.empty()) {
    RETURN_IF_ERROR(Take(TakePlan{*plan}));
  }
  return DropHopeless(*plan);
}

absl::Status ClusterSimulation::PassUntilDone() {
  for (int passes = 0; plan_wanted_; ++passes) {
    plan_wanted_ = false;
    if (state_.waiting() == 0 && state_.suspended().empty()) {
      last_plan_ = nullptr;
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(Pass());
    if (passes > kPassesAtOnceMax) {
      return absl::InternalError(absl::StrCat("at ", now_, " s pass follows pass without an end"));
    }
  }
  return absl::OkStatus();
}

// The next moment at which anything happens; false when nothing will.
absl::StatusOr<bool> ClusterSimulation::RunInstant() {
  ASSIGN_OR_RETURN(const TraceJob* job, arrivals_.Peek());
  Tick next = job == nullptr ? kNever : job->submit;
  next = endings_.empty() ? next : std::min(next, std::get<0>(endings_.top()));
  if (last_plan_ != nullptr && last_plan_->wake != kNoTime) {
    next = std::min(next, std::max(now_ + 1, TickOf(last_plan_->wake)));
  }
  if (next == kNever) {
    return false;
  }
  now_ = next;
  result_.schedule.now = now_;
  plan_wanted_ = plan_wanted_ || (last_plan_ != nullptr && last_plan_->wake != kNoTime &&
                                  TickOf(last_plan_->wake) <= now_);
  while (!endings_.empty() && std::get<0>(endings_.top()) <= now_) {
    RETURN_IF_ERROR(EndNext());
  }
  for (;;) {
    ASSIGN_OR_RETURN(const TraceJob* arriving, arrivals_.Peek());
    if (arriving == nullptr || arriving->submit != now_) {
      break;
    }
    RETURN_IF_ERROR(Arrive(*arriving));
    arrivals_.Pop();
  }
  RETURN_IF_ERROR(PassUntilDone());
  result_.schedule.longest_queue =
      std::max<std::uint64_t>(result_.schedule.longest_queue, state_.waiting());
  return true;
}

void ClusterSimulation::Report(FlatProgress* progress) const {
  const ByteSource& source = arrivals_.reader().source();
  *progress = {.bytes = source.consumed(),
               .bytes_in_all = source.file_size(),
               .arrived = result_.schedule.jobs,
               .ended = result_.schedule.ended,
               .now = now_};
}

absl::StatusOr<ClusterResult> ClusterSimulation::Run() {
  ASSIGN_OR_RETURN(const TraceJob* first, arrivals_.Peek());
  now_ = first == nullptr ? 0 : first->submit;
  RETURN_IF_ERROR(SetUp());
  FlatResult& schedule = result_.schedule;
  RETURN_IF_ERROR(observer_.Begin(schedule.processors));
  for (std::uint64_t instants = 1;; ++instants) {
    ASSIGN_OR_RETURN(const bool more, RunInstant());
    if (!more) {
      break;
    }
    if (instants % kInstantsBetweenQuestions == 0) {
      FlatProgress progress;
      Report(&progress);
      if (!observer_.KeepGoing(progress)) {
        schedule.complete = false;
        break;
      }
    }
  }
  if (schedule.complete && state_.waiting() > 0) {
    return absl::InternalError(
        absl::StrCat(state_.waiting(), " jobs wait, and nothing will ever happen"));
  }
  schedule.records = arrivals_.reader().records();
  schedule.dropped = arrivals_.dropped();
  schedule.skipped = arrivals_.reader().skipped();
  schedule.unix_start = arrivals_.reader().header().unix_start;
  schedule.names = arrivals_.reader().names();
  result_.state_print = PrintOf(state_);
  return std::move(result_);
}

absl::StatusOr<ClusterResult> RunOnce(const ClusterRun& run, FlatObserver& observer, bool sorted) {
  ASSIGN_OR_RETURN(OpenedTrace trace, OpenTrace({.path = run.trace,
                                                 .format = run.format,
                                                 .unit = TraceUnit::kCpus,
                                                 .lenient = run.lenient}));
  std::int64_t processors = 0;
  for (const NodeClass& nodes : run.nodes) {
    processors += std::int64_t{nodes.count} * AllCpus(nodes.machine).Count();
  }
  Arrivals arrivals(std::move(trace.reader),
                    {.processors = processors, .sorted = sorted, .gpus_stand_for_cpus = true});
  return ClusterSimulation(run, std::move(arrivals), observer).Run();
}

}  // namespace

absl::StatusOr<ClusterResult> SimulateCluster(const ClusterRun& run, FlatObserver& observer) {
  absl::StatusOr<ClusterResult> result = RunOnce(run, observer, false);
  if (absl::IsAborted(result.status())) {
    result = RunOnce(run, observer, true);
  }
  RETURN_IF_ERROR(result.status());
  if (result->schedule.jobs == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(run.trace, ": none of the ", result->schedule.records, " records can be run (",
                     result->schedule.dropped.total(), " dropped, ", result->refused, " refused",
                     result->first_refusal.empty() ? "" : ", the first: ", result->first_refusal,
                     "): see muster trace info --lenient"));
  }
  return result;
}

Machine PlainMachine(std::uint32_t cpus, std::uint32_t gpus, const std::string& gpu_model,
                     Bytes memory) {
  constexpr Bytes kMemoryNotCounted{std::uint64_t{1} << 50U};
  Machine machine;
  machine.packages.push_back(Package{0, "simulated"});
  machine.memory = memory.zero() ? kMemoryNotCounted : memory;
  NumaNode numa;
  numa.memory = machine.memory;
  for (std::uint32_t i = 0; i < cpus; ++i) {
    Core core;
    core.os_index = i;
    core.cpus.Insert(i);
    core.numa = 0;
    core.package = 0;
    numa.cpus |= core.cpus;
    machine.cores.push_back(core);
  }
  for (std::uint32_t i = 0; i < gpus; ++i) {
    Gpu gpu;
    gpu.os_index = i;
    gpu.uuid = absl::StrCat("GPU-", i);
    gpu.model = gpu_model;
    gpu.numa = 0;
    for (std::uint32_t other = 0; other < i; ++other) {
      DeviceLink link;
      link.a = other;
      link.b = i;
      link.kind = LinkKind::kNvLink;
      machine.gpu_links.push_back(link);
    }
    machine.gpus.push_back(std::move(gpu));
  }
  std::sort(machine.gpu_links.begin(), machine.gpu_links.end(),
            [](const DeviceLink& a, const DeviceLink& b) {
              return std::tie(a.a, a.b) < std::tie(b.a, b.b);
            });
  machine.numa_nodes.push_back(std::move(numa));
  machine.source = "simulated";
  machine.enforced = false;
  machine.why_not_enforced = "the machine is simulated";
  return machine;
}

}  // namespace muster
