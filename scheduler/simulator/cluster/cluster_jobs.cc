// The jobs of a simulated cluster, from arrival to end.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/model/machine/amounts.h"
#include "scheduler/simulator/cluster/cluster_replay.h"

namespace muster::sim {
namespace {

constexpr std::uint32_t kFirstUid = 100'000;
constexpr std::uint32_t kNobody = 99'999;
// A job that begins again more often will never end.
constexpr std::uint32_t kAttemptsMax = 100'000;

// Of each node, what the job of the trace had in all: as many as it takes, on `nodes` nodes. What
// no node of the run has is left out.
GresList KnownGres(const std::vector<NodeClass>& classes, const std::string& text,
                   std::int64_t nodes) {
  const absl::StatusOr<GresList> all = ParseGresList(text);
  GresList known;
  for (const GresCount& gres : all.ok() ? *all : GresList()) {
    const bool declared = std::any_of(
        classes.begin(), classes.end(),
        [&gres](const NodeClass& alike) { return CountOf(alike.machine.gres, gres.name) > 0; });
    if (declared) {
      const auto parts = static_cast<std::uint64_t>(std::max<std::int64_t>(nodes, 1));
      known.push_back({gres.name, (gres.count + parts - 1) / parts});
    }
  }
  return known;
}

}  // namespace

void ClusterReplay::NoteStart(const AttemptStarted& start) {
  Live& live = live_.at(start.job);
  live.start = now_;
  const bool again = ++live.attempts > 1;
  live.left = AttemptTime(live.checkpoints, live.work, again);
  if (live.checkpoints.size > 0 && live.checkpoints.interval > 0) {
    live.staged.emplace(live.checkpoints, live.work, again);
  }
  live.nodes = static_cast<std::uint32_t>(start.allocation.nodes.size());
  live.gpus = static_cast<std::uint32_t>(AmountsOf(start.allocation).gpus);
  live.processors.clear();
  live.parts.clear();
  for (const NodeAllocation& part : start.allocation.nodes) {
    AddProcessors(part, live.processors);
    live.parts.push_back({node_numbers_.at(part.node), part.cpus.Count(),
                          static_cast<std::int64_t>(part.gpus.size())});
  }
  std::sort(live.processors.begin(), live.processors.end());
  live.threads = 0;
  for (const auto& [first, last] : live.processors) {
    live.threads += last - first + 1;
  }
  std::vector<std::size_t> numbers;
  for (const Part& part : live.parts) {
    numbers.push_back(part.node);
  }
  power_.NoteStart(live.job.submit, numbers);
  live.started = true;
  ++started_;
  progress_.last_change = now_;
  HoldGpus(live, 1);
  GoOn(start.job);
}

// The part's hardware threads, by their numbers in the cluster.
void ClusterReplay::AddProcessors(const NodeAllocation& part, ProcessorRanges& ranges) const {
  const SimulatedNode& node = nodes_[node_numbers_.at(part.node)];
  for (const std::uint32_t cpu : part.cpus.Members()) {
    const auto place = std::lower_bound(node.threads->begin(), node.threads->end(), cpu);
    const std::int64_t number = node.first_processor + (place - node.threads->begin());
    if (!ranges.empty() && ranges.back().second == number - 1) {
      ranges.back().second = number;
    } else {
      ranges.emplace_back(number, number);
    }
  }
}

// What is free on the node has changed.
void ClusterReplay::SetRoom(std::size_t number) {
  const SimulatedNode& node = nodes_[number];
  const std::int64_t gpus = std::max<std::int64_t>(0, node.free_gpus);  // parts count as whole
  result_.threads.Set(number, node.free_threads);
  result_.free_gpus.Set(number, std::min(gpus, node.free_threads));
  power_.SetUse(number, static_cast<std::int64_t>(node.threads->size()) - node.free_threads, now_);
}

// The job has its threads from now on, or with `sign` -1 no more.
void ClusterReplay::HoldThreads(const Live& live, std::int64_t sign) {
  for (const Part& part : live.parts) {
    nodes_[part.node].free_threads -= sign * part.threads;
    SetRoom(part.node);
  }
}

void ClusterReplay::HoldGpus(const Live& live, std::int64_t sign) {
  for (const Part& part : live.parts) {
    nodes_[part.node].free_gpus -= sign * part.gpus;
    if (part.gpus > 0) {
      SetRoom(part.node);
    }
  }
}

// The job runs on from now.
void ClusterReplay::GoOn(JobId id) {
  Live& live = live_.at(id);
  HoldThreads(live, 1);
  live.since = now_;
  live.runs = true;
  if (live.staged.has_value()) {
    BeginStage(id, live);
  } else {
    endings_.emplace(now_ + live.left, ++starts_, id, ++live.generation);
  }
}

// The job does not run from now on.
void ClusterReplay::Freeze(JobId id) {
  Live& live = live_.at(id);
  ++live.generation;
  if (!live.runs) {
    return;
  }
  if (live.staged.has_value()) {
    PassStage(live);
    files_.Leave(id);
    if (live.staged->stage() == CheckpointedRun::Stage::kWrite) {
      NoteWrite(live);
      live.staged->AbandonWrite();
    }
  } else {
    live.left -= now_ - live.since;
  }
  live.runs = false;
  HoldThreads(live, -1);
}

// The attempt is over: what of it counts. REQUIRES: it is frozen.
AttemptParts ClusterReplay::Settle(Live& live) {
  const bool again = live.attempts > 1;
  const Tick time = AttemptTime(live.checkpoints, live.work, again) - live.left;
  const AttemptParts parts = live.staged.has_value()
                                 ? live.staged->Parts()
                                 : PartsOf(live.checkpoints, live.work, again, time);
  live.work -= parts.saved;
  result_.failures.Add(parts, live.threads);
  result_.gpu_seconds += static_cast<std::uint64_t>(now_ - live.start) * live.gpus;
  HoldGpus(live, -1);
  live.started = false;
  --started_;
  progress_.last_change = now_;
  return parts;
}

// A failure or a preemption ended the attempt, and the job waits again.
void ClusterReplay::BeginAgain(const JobRequeued& again) {
  Freeze(again.job);
  Live& live = live_.at(again.job);
  live.promised = -1;
  const AttemptParts parts = Settle(live);
  if (again.preempted) {
    result_.lost_seconds += static_cast<std::uint64_t>(now_ - live.start - parts.saved);
  } else {
    ++result_.failures.attempts;
  }
  if (again.held) {
    held_.push_back(again.job);
  }
  if (live.attempts >= kAttemptsMax) {
    progress_.hopeless = again.job;
  }
  if (now_ > live.start) {
    absl::StrAppend(&live.earlier, live.earlier.empty() ? "" : ";", live.start, "-", now_, ":");
    AppendRanges(live.processors, &live.earlier);
  }
}

// The next job's end, if it is still foreseen.
absl::Status ClusterReplay::EndNext() {
  const auto [tick, number, id, generation] = endings_.top();
  endings_.pop();
  const auto found = live_.find(id);
  if (found == live_.end() || found->second.generation != generation) {
    return absl::OkStatus();
  }
  if (found->second.staged.has_value()) {
    PassStage(found->second);
    if (found->second.staged->stage() != CheckpointedRun::Stage::kDone) {
      BeginStage(id, found->second);
      return absl::OkStatus();
    }
  }
  std::vector<NodeId> nodes;
  for (const NodeAllocation& part : state_.FindJob(id)->attempt->allocation.nodes) {
    nodes.push_back(part.node);
  }
  const TraceJob& job = found->second.job;
  return EndOn(id, nodes, job.cut_off ? EndCause::kTimeLimit : EndCause::kExited);
}

// The job has left the state: its row, unless it never ran.
absl::Status ClusterReplay::Finish(JobId id) {
  const auto found = live_.find(id);
  Live& live = found->second;
  if (!live.started) {
    live_.erase(found);
    return absl::OkStatus();
  }
  Freeze(id);
  Settle(live);
  row_.job_id = live.job.id;
  row_.submission_time = live.job.submit;
  row_.requested_resources = live.asked;
  row_.requested_time = live.limit + live.held_up;
  row_.starting_time = live.start;
  row_.execution_time = std::max<Tick>(1, now_ - live.start);
  const bool is_done = live.staged.has_value()
                           ? live.staged->stage() == CheckpointedRun::Stage::kDone
                           : live.left == 0;
  row_.success = !live.job.cut_off && is_done;
  row_.reason = live.overtook ? "backfilled" : "head";
  row_.promised_start = live.promised;
  row_.user = live.job.user;
  row_.group = live.job.group;
  row_.partition = live.job.partition;
  row_.gpus = live.gpus;
  row_.nodes = live.nodes;
  row_.allocated_resources.clear();
  AppendRanges(live.processors, &row_.allocated_resources);
  row_.earlier_attempts = std::move(live.earlier);
  ++result_.schedule.ended;
  live_.erase(found);
  return observer_.Ended(row_);
}

// What the policy calls a partition, queue or group of the trace: its name, or, where the trace has
// numbers only, p1, q1, g1; empty where the policy has none of that name.
std::string ClusterReplay::KnownName(PolicyKind kind, const NameTable& names, const char* prefix,
                                     std::int64_t number) const {
  if (number < 0) {
    return "";
  }
  const SitePolicy& site = state_.policy().site();
  const std::string name = names.NameOf(number);
  for (const std::string& candidate : {name, absl::StrCat(prefix, name)}) {
    if (Has(site, kind, candidate)) {
      return candidate;
    }
  }
  return "";
}

JobSpec ClusterReplay::SpecOf(const TraceJob& job) const {
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
  if (job.gres >= 0) {
    request.gres = KnownGres(run_.nodes, names.gres.NameOf(job.gres), job.nodes);
  }
  Tick estimate = job.requested_time;
  estimate = run_.estimates == Estimates::kExact    ? job.run_time
             : run_.estimates == Estimates::kDouble ? 2 * job.requested_time
                                                    : estimate;
  const JobCheckpoints checkpoints = CheckpointsOf(request);
  spec.time_limit = std::chrono::seconds(
      checkpoints.interval == 0 ? estimate : AttemptTime(checkpoints, estimate, true));
  spec.requeue = faults_ ? Choice::kYes : spec.requeue;
  return spec;
}

// How a job of this size writes checkpoints: where nobody says how often, by how often the fewest
// nodes that can hold it fail.
JobCheckpoints ClusterReplay::CheckpointsOf(const ResourceRequest& request) const {
  JobCheckpoints checkpoints = run_.checkpoints;
  if (run_.interval_for == nullptr && checkpoints.size == 0) {
    return checkpoints;
  }
  std::int64_t threads = 1;  // of the largest node
  std::int64_t gpus = 1;
  for (const NodeClass& alike : run_.nodes) {
    threads = std::max<std::int64_t>(threads, AllCpus(alike.machine).Count());
    gpus = std::max(gpus, static_cast<std::int64_t>(alike.machine.gpus.size()));
  }
  const std::int64_t asked = std::int64_t{request.tasks} * request.cpus_per_task;
  const std::int64_t asked_gpus = std::int64_t{request.tasks} * request.gpus_per_task.count;
  const std::int64_t nodes =
      std::max((asked + threads - 1) / threads, (asked_gpus + gpus - 1) / gpus);
  if (checkpoints.size > 0) {
    const std::int64_t units = asked_gpus > 0 ? asked_gpus : asked;
    checkpoints.cost = run_.file_system.AloneFor(checkpoints.size * units, nodes);
  }
  if (run_.interval_for != nullptr) {
    checkpoints.interval =
        run_.interval_for(checkpoints, 1 / (node_rate_ * static_cast<double>(nodes)));
  }
  return checkpoints;
}

absl::Status ClusterReplay::Refuse(const std::string& why) {
  if (++result_.refused == 1) {
    result_.first_refusal = why;
  }
  return absl::OkStatus();
}

absl::Status ClusterReplay::Arrive(const TraceJob& job) {
  SubmitJob submit;
  submit.token = absl::StrCat("job-", job.id);
  submit.spec = SpecOf(job);
  submit.program.script = "#!\n";
  const JobId next = state_.next_job();
  Live& live = live_[next];
  live.job = job;
  live.work = job.run_time;
  live.checkpoints = CheckpointsOf(submit.spec.request);
  live.limit = live.checkpoints.interval == 0
                   ? job.requested_time
                   : AttemptTime(live.checkpoints, job.requested_time, true);
  live.asked = std::int64_t{submit.spec.request.tasks} * submit.spec.request.cpus_per_task;
  const absl::Status taken = Take(std::move(submit));
  if (!taken.ok()) {
    live_.erase(next);
    return Refuse(absl::StrCat("job ", job.id, ": ", std::string(taken.message())));
  }
  ++result_.schedule.jobs;
  progress_.last_change = now_;
  return absl::OkStatus();
}

}  // namespace muster::sim
