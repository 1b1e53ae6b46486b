#include "scheduler/simulator/cluster/cluster_simulation.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/core/plan/power_demand.h"
#include "scheduler/core/state/state_hash.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/value/index_ranges.h"
#include "scheduler/model/value/value_bytes.h"
#include "scheduler/simulator/cluster/cluster_replay.h"

namespace muster::sim {
namespace {

// 2000-01-01 00:00 UTC is the trace's time 0.
constexpr Time kBeginning{Duration(946'684'800'000)};
constexpr std::uint64_t kInstantsBetweenQuestions = 16;
// A cycle that is followed by another at the same instant so often has a defect.
constexpr int kCyclesAtOnceMax = 10'000;

// A decision as the log keeps it: of the plan what is carried out, and who can never start.
std::string BytesOf(std::int64_t now, const Plan& plan, JobId oldest_left,
                    const std::vector<NodeId>& wanted, bool with_places) {
  Plan carried_out;
  if (with_places) {  // by which nodes are switched on
    carried_out.reservations = plan.reservations;
  }
  carried_out.version = plan.version;
  carried_out.starts = plan.starts;
  carried_out.wake = plan.wake;
  carried_out.hash = plan.hash;
  carried_out.drops = plan.drops;
  carried_out.preemptions = plan.preemptions;
  carried_out.resumes = plan.resumes;
  for (const LeftWaiting& left : plan.waiting) {
    if (left.reason.verdict == ReasonClass::kNever) {
      carried_out.waiting.push_back(left);
    }
  }
  ValueWriter writer;
  writer.Put(now);
  writer.Put(carried_out);
  writer.Put(oldest_left);
  writer.Put(wanted);
  return writer.bytes();
}

}  // namespace

Time ClusterReplay::TimeOf(Tick tick) {
  return kBeginning + std::chrono::seconds(tick);
}

// The first whole second that is not before.
ClusterReplay::Tick ClusterReplay::TickOf(Time time) {
  return std::chrono::ceil<std::chrono::seconds>(time - kBeginning).count();
}

// The cluster as it is before the first job: an epoch, the policy, the nodes.
absl::Status ClusterReplay::SetUp() {
  RETURN_IF_ERROR(Take(BeginEpoch{}));
  RETURN_IF_ERROR(Take(ConfigurePolicy{run_.policy, Operator(), "the cluster"}));
  std::int64_t processors = 0;
  for (std::size_t kind = 0; kind < run_.nodes.size(); ++kind) {
    const NodeClass& alike = run_.nodes[kind];
    const auto threads =
        std::make_shared<const std::vector<std::uint32_t>>(AllCpus(alike.machine).Members());
    for (std::uint32_t i = 1; i <= alike.count; ++i) {
      SimulatedNode node;
      node.name = absl::StrCat(alike.name, i);
      node.kind = kind;
      node.first_processor = processors;
      node.threads = threads;
      node.free_threads = static_cast<std::int64_t>(threads->size());
      node.free_gpus = static_cast<std::int64_t>(alike.machine.gpus.size());
      RETURN_IF_ERROR(RegisterNode(node));
      node_numbers_[node.id] = nodes_.size();
      result_.threads.AddNode(node.free_threads);
      result_.free_gpus.AddNode(std::min(node.free_gpus, node.free_threads));
      power_.AddNode(node.id, node.name, static_cast<std::int64_t>(threads->size()), now_);
      nodes_.push_back(std::move(node));
      processors += static_cast<std::int64_t>(threads->size());
      result_.gpus += alike.machine.gpus.size();
    }
  }
  result_.schedule.processors = processors;
  return SetUpFailures();
}

// The node's agent comes up: at first, or after a reboot that ended what ran there.
absl::Status ClusterReplay::RegisterNode(SimulatedNode& node) {
  const NodeClass& alike = run_.nodes[node.kind];
  Registration registration;
  registration.name = node.name;
  registration.hostname = node.name;
  registration.instance = node.boots == 0 ? "simulated" : absl::StrCat("simulated-", node.boots);
  registration.boot_id = registration.instance;
  registration.machine = alike.machine;
  registration.features = alike.features;
  registration.weight = alike.weight;
  core::Transition transition;
  RETURN_IF_ERROR(Take(RegisterAgent{std::move(registration)}, &transition));
  node.id = transition.node;
  return absl::OkStatus();
}

// One input through the scheduler, and the agents' answers to what it asks of them.
absl::Status ClusterReplay::Take(const Command& command, core::Transition* answer) {
  core::Transition transition = core::Handle(state_, command, TimeOf(now_), config_);
  if (!transition.status.ok()) {
    return transition.status;
  }
  std::vector<JobId> ended;
  if (LearnsEstimates()) {
    estimates_.AddTo(transition.events);
  }
  for (const Event& event : transition.events) {
    Note(event, ended);
    state_.Apply(event);
    snapshots_.Note(event, state_.version());
  }
  for (const JobId id : ended) {
    RETURN_IF_ERROR(Finish(id));
  }
  const std::vector<Effect> effects = std::move(transition.effects);
  if (answer != nullptr) {
    *answer = std::move(transition);
  }
  return Answer(effects);
}

absl::Status ClusterReplay::Answer(const std::vector<Effect>& effects) {
  const auto report = [this](JobId id, NodeId node, Fact fact) {
    const Job& job = *state_.FindJob(id);
    const NodeRun& run = job.attempt->runs[*core::RunOn(*job.attempt, node)];
    return Take(TakeReport{
        node, muster::Report{id, job.attempt->number, run.reported + 1, std::move(fact)}});
  };
  for (const Effect& effect : effects) {
    if (std::holds_alternative<Replan>(effect)) {
      plan_wanted_ = true;
    } else if (const auto* power = std::get_if<SwitchPower>(&effect)) {
      power_.Begin(*power, now_);
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
absl::Status ClusterReplay::EndOn(JobId id, const std::vector<NodeId>& nodes, EndCause cause) {
  for (const NodeId node : nodes) {
    const Job* job = state_.FindJob(id);
    if (job == nullptr || !job->attempt.has_value()) {
      return absl::OkStatus();
    }
    const NodeRun& run = job->attempt->runs[*core::RunOn(*job->attempt, node)];
    RunEnded ended;
    ended.time = TimeOf(now_);
    ended.cause = cause;
    RETURN_IF_ERROR(
        Take(TakeReport{node, muster::Report{id, job->attempt->number, run.reported + 1, ended}}));
  }
  return absl::OkStatus();
}

void ClusterReplay::Note(const Event& event, std::vector<JobId>& ended) {
  if (const auto* start = std::get_if<AttemptStarted>(&event)) {
    NoteStart(*start);
  } else if (const auto* promised = std::get_if<StartPromised>(&event)) {
    // It may be put off where nodes fail, and nowhere else: there the row has the earliest.
    Live& live = live_.at(promised->job);
    const Tick by = TickOf(promised->by);
    live.promised = faults_ || live.promised < 0 ? by : std::min(live.promised, by);
  } else if (const auto* end = std::get_if<JobEnded>(&event)) {
    ended.push_back(end->job);
    estimates_.Observe(*state_.FindJob(end->job), *end);
  } else if (const auto* again = std::get_if<JobRequeued>(&event)) {
    BeginAgain(*again);
  } else if (const auto* frozen = std::get_if<AttemptSuspended>(&event)) {
    Freeze(frozen->job);
  } else if (const auto* thawed = std::get_if<AttemptResumed>(&event)) {
    GoOn(thawed->job);
  } else if (const auto* ending = std::get_if<AttemptEnding>(&event)) {
    result_.preemptions +=
        ending->cause == EndCause::kPreempted || ending->cause == EndCause::kPreemptedToRequeue ? 1
                                                                                                : 0;
  }
}

// Jobs that can never start here go, so that they do not stand in the way for ever.
absl::Status ClusterReplay::DropHopeless(const Plan& plan) {
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

// The scheduler's own decision.
ClusterReplay::Decision ClusterReplay::Decide() {
  const auto snapshot = snapshots_.Build(state_, TimeOf(now_), last_plan_.get(), config_.network);
  last_plan_ = std::make_shared<Plan>(core::MakePlan(snapshot, config_, memory_));
  Decision decision;
  decision.now = now_;
  for (const LeftWaiting& left : last_plan_->waiting) {
    if (!decision.oldest_left.valid() || left.job < decision.oldest_left) {
      decision.oldest_left = left.job;
    }
  }
  if (power_.on()) {
    decision.wanted = core::NodesWanted(*snapshot, *last_plan_, config_);
  }
  return decision;
}

// What an earlier run decided here.
absl::StatusOr<ClusterReplay::Decision> ClusterReplay::NextKnown() {
  Decision decision;
  if (run_.decisions->knows_more()) {
    ASSIGN_OR_RETURN(const std::string bytes, run_.decisions->Next());
    ValueReader reader(bytes);
    reader.Get(decision);
    const auto& starts = decision.plan.starts;
    const bool fits = std::all_of(starts.begin(), starts.end(), [this](const PlannedStart& start) {
      return live_.count(start.job) != 0;
    });
    if (reader.AtEnd() && decision.now == now_ && fits) {
      last_plan_ = std::make_shared<Plan>(std::move(decision.plan));
      return decision;
    }
  }
  return absl::DataLossError(absl::StrCat(run_.decisions->path(),
                                          ": its decisions do not fit this simulation at ", now_,
                                          " s: begin again with --checkpoint"));
}

// Between two instants: what is decided goes to the log, and after its last known decision the
// planner goes on with what it remembered then.
absl::Status ClusterReplay::KeepDecisions(bool stopped) {
  DecisionLog* log = run_.decisions;
  if (log == nullptr || (follows_ && log->knows_more())) {
    return absl::OkStatus();
  }
  std::optional<Plan> last;
  if (follows_) {
    follows_ = false;
    ValueReader reader(log->state());
    reader.Get(last);
    last_plan_ = last.has_value() ? std::make_shared<Plan>(*std::move(last)) : nullptr;
    return reader.AtEnd() ? absl::OkStatus()
                          : absl::DataLossError(absl::StrCat(
                                log->path(), ": what the planner remembered cannot be read"));
  }
  if (!stopped && !log->WantsState()) {
    return absl::OkStatus();
  }
  if (last_plan_ != nullptr) {
    last = *last_plan_;
  }
  ValueWriter writer;
  writer.Put(last);
  return log->AddState(writer.bytes());
}

absl::Status ClusterReplay::RunCycle() {
  ASSIGN_OR_RETURN(Decision decision, follows_ ? NextKnown() : absl::StatusOr<Decision>(Decide()));
  ++result_.cycles;
  const std::shared_ptr<Plan> plan = last_plan_;
  if (run_.decisions != nullptr && !follows_) {
    run_.decisions->Add(
        BytesOf(decision.now, *plan, decision.oldest_left, decision.wanted, power_.on()));
  }
  power_.Want(std::move(decision.wanted));
  const JobId oldest_left = decision.oldest_left;
  for (const PlannedStart& start : plan->starts) {
    live_.at(start.job).overtook = oldest_left.valid() && oldest_left < start.job;
  }
  if (HasWork(*plan, TimeOf(now_))) {
    Command command = TakePlan{std::move(*plan)};
    const absl::Status taken = Take(command);
    *plan = std::move(std::get<TakePlan>(command).plan);
    RETURN_IF_ERROR(taken);
  }
  return DropHopeless(*plan);
}

// Cycles, and orders to switch nodes, until neither has anything to do.
absl::Status ClusterReplay::RunCyclesUntilDone() {
  for (int cycles = 0;; ++cycles) {
    if (cycles > kCyclesAtOnceMax) {
      return absl::InternalError(
          absl::StrCat("at ", now_, " s cycle follows cycle without an end"));
    }
    if (plan_wanted_ && core::NeedsCycle(state_)) {
      plan_wanted_ = false;
      RETURN_IF_ERROR(RunCycle());
      continue;
    }
    if (plan_wanted_) {
      plan_wanted_ = false;
      last_plan_ = nullptr;
    }
    const std::optional<SwitchNodes> orders =
        power_.Look(state_, last_plan_.get(), config_, TimeOf(now_), now_);
    if (!orders.has_value()) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(Take(*orders));
  }
}

// When anything happens next; kNever when nothing will. Nodes fail for ever, and that alone is
// nothing.
absl::StatusOr<ClusterReplay::Tick> ClusterReplay::NextMoment() {
  ASSIGN_OR_RETURN(const TraceJob* job, arrivals_.Peek());
  if (job == nullptr && live_.empty()) {
    return kNever;
  }
  Tick next = job == nullptr ? kNever : job->submit;
  next = endings_.empty() ? next : std::min(next, std::get<0>(endings_.top()));
  if (last_plan_ != nullptr && last_plan_->wake != kNoTime) {
    next = std::min(next, std::max(now_ + 1, TickOf(last_plan_->wake)));
  }
  next = repairs_.empty() ? next : std::min(next, repairs_.top().first);
  next = std::min(next, files_.NextDone().first);
  next = std::min(next, power_.Next());
  if (power_.wake() != kNoTime) {
    next = std::min(next, std::max(now_ + 1, TickOf(power_.wake())));
  }
  const NodeFailure* failure = next == kNever ? nullptr : failures_.Peek();
  return failure == nullptr ? next : std::min(next, failure->time);
}

// All that happens at the next moment; false when nothing will.
absl::StatusOr<bool> ClusterReplay::RunInstant() {
  ASSIGN_OR_RETURN(const Tick next, NextMoment());
  if (next == kNever) {
    return false;
  }
  now_ = next;
  result_.schedule.now = now_;
  result_.threads.Advance(now_);
  result_.free_gpus.Advance(now_);
  plan_wanted_ = plan_wanted_ || (last_plan_ != nullptr && last_plan_->wake != kNoTime &&
                                  TickOf(last_plan_->wake) <= now_);
  EndWrites();
  while (!endings_.empty() && std::get<0>(endings_.top()) <= now_) {
    RETURN_IF_ERROR(EndNext());
  }
  RETURN_IF_ERROR(RepairNodes());
  RETURN_IF_ERROR(FailNodes());
  for (;;) {
    ASSIGN_OR_RETURN(const TraceJob* arriving, arrivals_.Peek());
    if (arriving == nullptr || arriving->submit != now_) {
      break;
    }
    RETURN_IF_ERROR(Arrive(*arriving));
    arrivals_.Pop();
  }
  RETURN_IF_ERROR(RunCyclesUntilDone());
  AdmitWriters();
  result_.schedule.longest_queue =
      std::max<std::uint64_t>(result_.schedule.longest_queue, core::WaitingJobs(state_));
  RETURN_IF_ERROR(KeepDecisions(false));
  return true;
}

void ClusterReplay::Report(FlatProgress* progress) const {
  const ByteSource& source = arrivals_.reader().source();
  *progress = {.bytes = source.consumed(),
               .bytes_in_all = source.file_size(),
               .arrived = result_.schedule.jobs,
               .ended = result_.schedule.ended,
               .now = now_};
}

absl::StatusOr<ClusterResult> ClusterReplay::Run() {
  ASSIGN_OR_RETURN(const TraceJob* first, arrivals_.Peek());
  now_ = first == nullptr ? 0 : first->submit;
  RETURN_IF_ERROR(SetUp());
  FlatResult& schedule = result_.schedule;
  RETURN_IF_ERROR(observer_.Begin(schedule.processors));
  follows_ = run_.decisions != nullptr && run_.decisions->knows_more();
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
  if (schedule.complete && core::WaitingJobs(state_) > 0) {
    return absl::InternalError(
        absl::StrCat(core::WaitingJobs(state_), " jobs wait, and nothing will ever happen"));
  }
  RETURN_IF_ERROR(KeepDecisions(true));
  schedule.records = arrivals_.reader().records();
  schedule.dropped = arrivals_.dropped();
  schedule.skipped = arrivals_.reader().skipped();
  schedule.unix_start = arrivals_.reader().header().unix_start;
  schedule.names = arrivals_.reader().names();
  SumUpFailures();
  if (power_.on()) {
    result_.energy = power_.Energy(now_);
  }
  result_.state_hash = core::HashOf(state_);
  return std::move(result_);
}

namespace {

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
  if (run.decisions != nullptr) {
    RETURN_IF_ERROR(run.decisions->Begin(sorted));
  }
  return ClusterReplay(run, std::move(arrivals), observer).Run();
}

}  // namespace

absl::StatusOr<ClusterResult> SimulateCluster(const ClusterRun& run, FlatObserver& observer) {
  const bool known_as_sorted = run.decisions != nullptr && run.decisions->sorted();
  absl::StatusOr<ClusterResult> result = RunOnce(run, observer, known_as_sorted);
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

}  // namespace muster::sim
