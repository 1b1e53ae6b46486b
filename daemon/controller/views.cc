#include "daemon/controller/views.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/core/handle/nodes/health_handlers.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/core/state/tables/checkpoint_account.h"
#include "scheduler/core/state/tables/usage_keys.h"
#include "scheduler/model/job/container.h"
#include "scheduler/model/job/inner_ranks.h"
#include "scheduler/model/job/program_check.h"
#include "scheduler/model/machine/amounts.h"

namespace muster::daemon {
namespace {

void AddAllocation(const Allocation& allocation, JobView& view) {
  view.node_count = static_cast<std::uint32_t>(allocation.nodes.size());
  for (const NodeAllocation& part : allocation.nodes) {
    view.nodes.push_back(part.name);
  }
  SetAmounts(AmountsOf(allocation), view);
}

void AddRequest(const JobSpec& spec, JobView& view) {
  view.uid = spec.user.uid;
  view.gid = spec.user.gid;
  view.node_count = spec.request.min_nodes;
  view.cpus_per_task = spec.request.cpus_per_task;
  view.memory_per_node = spec.request.memory_per_node;
  view.memory_per_cpu = spec.request.memory_per_cpu;
  view.array_throttle = spec.array.has_value() ? spec.array->max_running : 0;
}

Usage Total(const Attempt& attempt) {
  Usage usage;
  for (const NodeRun& run : attempt.runs) {
    usage.Add(run.usage);
  }
  return usage;
}

const char* Name(BindingVerdict verdict) {
  switch (verdict) {
    case BindingVerdict::kUnread:
      return "unread";
    case BindingVerdict::kVerified:
      return "verified";
    case BindingVerdict::kDiffers:
      return "differs";
    case BindingVerdict::kNotEnforced:
      return "not enforced";
    case BindingVerdict::kUnreadable:
      return "unreadable";
  }
  return "";
}

const char* Name(EndCause cause) {
  switch (cause) {
    case EndCause::kNone:
      return "";
    case EndCause::kExited:
      return "exited";
    case EndCause::kCancelled:
      return "cancelled";
    case EndCause::kTimeLimit:
      return "time limit";
    case EndCause::kLaunchFailed:
      return "launch failed";
    case EndCause::kLostSupervisor:
      return "lost supervisor";
    case EndCause::kNodeRebooted:
      return "node rebooted";
    case EndCause::kNodeLostRecord:
      return "node lost its record";
    case EndCause::kNeverStarted:
      return "never started";
    case EndCause::kOutOfMemory:
      return "out of memory";
    case EndCause::kJobEnding:
      return "job ending";
    case EndCause::kPrologFailed:
      return "prolog failed";
    case EndCause::kHung:
      return "no progress";
    case EndCause::kRequeued:
      return "requeued";
    case EndCause::kPreempted:
    case EndCause::kPreemptedToRequeue:
      return "preempted";
    case EndCause::kResized:
      return "resized";
  }
  return "";
}

std::vector<std::string> GpuNames(const Node* node, const std::vector<std::uint32_t>& gpus) {
  std::vector<std::string> names;
  for (std::uint32_t gpu : gpus) {
    const bool known = node != nullptr && gpu < node->machine->gpus.size();
    names.push_back(known ? node->machine->gpus[gpu].uuid : absl::StrCat(gpu));
  }
  return names;
}

std::string NicName(const Node* node, const RankPlacement& rank) {
  const bool known = node != nullptr && rank.nic > 0 && rank.nic <= node->machine->nics.size();
  return known ? node->machine->nics[rank.nic - 1].name : "";
}

// What was planned for a rank that was read back: its own place, or for the batch script the whole
// node's.
void AddPlan(const Node* node, const NodeAllocation& part, RankView& view) {
  if (view.step.valid() && view.step != kFreeInnerStep) {
    for (const RankPlacement& rank : part.ranks) {
      if (rank.rank == view.rank) {
        view.cpus = rank.cpus.ToList();
        view.mem_nodes = rank.mem_nodes.ToList();
        view.gpus = GpuNames(node, rank.gpus);
        view.nic = NicName(node, rank);
        return;
      }
    }
  }
  std::vector<std::uint32_t> gpus;
  for (const GpuGrant& grant : part.gpus) {
    gpus.push_back(grant.gpu);
  }
  view.cpus = part.cpus.ToList();
  view.mem_nodes = part.mem_nodes.ToList();
  view.gpus = GpuNames(node, gpus);
}

RankView ViewOf(const Node* node, const NodeAllocation& part, const NodeRun& run,
                const RankBinding& binding) {
  RankView view;
  view.step = binding.step;
  view.rank = binding.rank;
  view.node = part.name;
  AddPlan(node, part, view);
  view.found_cpus = binding.cpus.ToList();
  view.found_mem_policy = binding.mem_policy;
  view.found_gpus = binding.gpus;
  view.verdict = Name(binding.verdict);
  view.text = binding.text;
  const auto work =
      std::find_if(run.gpu_work.begin(), run.gpu_work.end(), [&binding](const RankGpuWork& one) {
        return one.step == binding.step && one.rank == binding.rank;
      });
  if (work != run.gpu_work.end()) {
    view.gpu_work = RatesOf(work->work);
  }
  return view;
}

// The places that were planned and not yet read back.
void AddPlanned(const Node* node, const NodeAllocation& part, const NodeRun& run,
                AttemptView& view) {
  if (!run.bindings.empty()) {
    return;
  }
  for (const RankPlacement& rank : part.ranks) {
    RankView planned;
    planned.step = StepId(1);
    planned.rank = rank.rank;
    planned.node = part.name;
    planned.cpus = rank.cpus.ToList();
    planned.mem_nodes = rank.mem_nodes.ToList();
    planned.gpus = GpuNames(node, rank.gpus);
    planned.nic = NicName(node, rank);
    planned.verdict = Name(BindingVerdict::kUnread);
    view.ranks.push_back(std::move(planned));
  }
}

namespace {

// Which jobs an operator keeps away.
const char* KeptOff(const Node& node) {
  return node.drained ? "+DRAIN" : node.narrow ? "+NARROW" : "";
}

}  // namespace

std::string NodeState(const core::ClusterState& cluster, const Node& node) {
  const PowerState power = cluster.power().Of(node.id).state;
  if (power == PowerState::kPoweringDown || power == PowerState::kOff ||
      power == PowerState::kPoweringUp) {
    const char* const word = power == PowerState::kOff          ? "POWERED_DOWN"
                             : power == PowerState::kPoweringUp ? "POWERING_UP"
                                                                : "POWERING_DOWN";
    return absl::StrCat(word, KeptOff(node));
  }
  const std::uint32_t all = AllCpus(*node.machine).Count();
  const std::uint32_t taken = node.taken.cpus.Count();
  std::string state = !node.connected ? "DOWN"
                      : taken == 0    ? "IDLE"
                      : taken < all   ? "MIXED"
                                      : "ALLOCATED";
  return absl::StrCat(state, KeptOff(node));
}

// Why the job is suspended, and what it waits for to come back.
ReasonView SuspendedReason(const Job& job, const Reason* reason) {
  const Attempt& attempt = *job.attempt;
  std::string then;
  if (HoldsCores(attempt)) {
    then = "its nodes are still stopping it";
  } else if (attempt.suspended_by == SuspendedBy::kOperator) {
    then = absl::StrCat("muster resume ", ToString(job.id), " has it come back");
  } else if (reason != nullptr && reason->kind == ReasonKind::kSuspended) {
    then = ToSentence(*reason);
  } else {
    then = "comes back when its CPUs are free";
  }
  return ReasonView{Name(ReasonKind::kSuspended), absl::StrCat(attempt.suspended_text, "; ", then),
                    false};
}

// Before the first process of a job with data each of its nodes has a copy.
ReasonView BringingReason(const Job& job) {
  std::vector<std::string> nodes;
  const Attempt& attempt = *job.attempt;
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    if (attempt.runs[i].phase == RunPhase::kOrdered) {
      nodes.push_back(attempt.allocation.nodes[i].name);
    }
  }
  return {"Staging", absl::StrCat("its data are brought to ", CompressHostlist(nodes)), false};
}

// "found on n1, copied to n2 (4 GiB)", and why not before; "" where no node has said so.
std::string DataText(const Attempt& attempt) {
  std::vector<std::string> found;
  std::vector<std::string> copied;
  std::uint64_t bytes = 0;
  std::string not_ahead;
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    const DataBrought& data = attempt.runs[i].data;
    if (data.found + data.made > 0) {
      (data.made == 0 ? found : copied).push_back(attempt.allocation.nodes[i].name);
    }
    bytes += data.bytes;
    not_ahead = not_ahead.empty() ? data.not_ahead : not_ahead;
  }
  std::vector<std::string> parts;
  if (!found.empty()) {
    parts.push_back(absl::StrCat("found on ", CompressHostlist(found)));
  }
  if (!copied.empty()) {
    parts.push_back(absl::StrCat("copied to ", CompressHostlist(copied), " (", BytesText(bytes),
                                 ")",
                                 not_ahead.empty() ? "" : "; not while it waited: ", not_ahead));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace

JobView ViewOf(const Job& job, const Reason* reason) {
  const JobSpec& spec = *job.spec;
  JobView view;
  view.id = job.id;
  view.array_job_id = job.submission;
  view.array_task_id = job.array_index.has_value() ? absl::StrCat(*job.array_index) : "";
  view.label = job.array_index.has_value()
                   ? absl::StrCat(job.submission.value(), "_", *job.array_index)
                   : core::LabelOf(job);
  if (IsComponent(job)) {
    view.het_job = job.submission;
    view.het_offset = OffsetOf(job);
    view.het_size = job.het_size;
  }
  view.name = spec.name;
  view.user = spec.user.name;
  view.account = spec.account;
  view.partition =
      core::EffectivePartition(job.attempt.has_value() ? job.attempt->partition : spec.partition);
  view.qos = core::EffectiveQos(spec.qos);
  view.reservation = spec.reservation;
  view.state = Name(job.state);
  view.tasks = spec.request.tasks;
  view.cpus = spec.request.tasks * spec.request.cpus_per_task;
  AddRequest(spec, view);
  view.restarts = job.last_attempt.value() > 0 ? job.last_attempt.value() - 1 : 0;
  view.submit_time = job.submitted;
  view.time_limit = spec.time_limit;
  view.dependency = ToText(spec.dependency);
  for (const LicenseCount& license : spec.licenses) {
    absl::StrAppend(&view.licenses, view.licenses.empty() ? "" : ",", license.name, ":",
                    license.count);
  }
  view.begin_time = spec.begin;
  view.deadline = spec.deadline;
  view.nice = spec.nice;
  view.comment = spec.comment;
  if (reason != nullptr && IsWaiting(job.state)) {
    view.reason =
        ReasonView{Name(reason->kind), ToSentence(*reason), reason->verdict == ReasonClass::kNever};
    view.expected_start = reason->until;
  }
  if (IsSuspended(job.state)) {
    view.reason = SuspendedReason(job, reason);
  }
  if (IsStarting(job.state) && !spec.node_data.empty()) {
    view.reason = BringingReason(job);
  }
  if (job.attempt.has_value()) {
    view.start_time = job.attempt->started;
    view.suspended_since = job.attempt->suspended_since;
    view.suspended = job.attempt->suspended_total;
    AddAllocation(job.attempt->allocation, view);
    view.binding = BindingText(*job.attempt);
    view.usage = Total(*job.attempt);
  }
  view.checkpoints = core::TotalsSoFar(job);
  return view;
}

JobView ViewOf(const Job& job, const JobEnded& end) {
  JobView view = ViewOf(job, nullptr);
  view.state = Name(end.state);
  view.end_time = end.time;
  view.suspended_since = kNoTime;
  view.suspended = job.attempt.has_value() ? SuspendedFor(*job.attempt, end.time) : Duration(0);
  view.exit_code = end.status.code;
  view.exit_signal = end.status.signal;
  view.exit_text = end.text;
  view.checkpoints = core::TotalsAtEnd(job, end.time);
  return view;
}

AttemptUse UseOf(const Attempt& attempt, Time now) {
  AttemptUse use;
  use.start_time = attempt.started;
  use.suspended = SuspendedFor(attempt, now);
  use.billing = attempt.billing;
  use.node_count = static_cast<std::uint32_t>(attempt.allocation.nodes.size());
  SetAmounts(AmountsOf(attempt.allocation), use);
  return use;
}

AttemptView ViewOf(const core::ClusterState& state, const Job& job, Time end) {
  const Attempt& attempt = *job.attempt;
  AttemptView view;
  view.number = attempt.number;
  view.start_time = attempt.started;
  view.end_time = end;
  view.billing = attempt.billing;
  view.suspended = SuspendedFor(attempt, end);
  view.suspensions = attempt.suspensions;
  if (end != kNoTime && !view.suspensions.empty() && view.suspensions.back().end == kNoTime) {
    view.suspensions.back().end = end;
  }
  view.usage = Total(attempt);
  SetAmounts(AmountsOf(attempt.allocation), view);
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    const NodeAllocation& part = attempt.allocation.nodes[i];
    const NodeRun& run = attempt.runs[i];
    const Node* node = state.FindNode(part.node);
    view.nodes.push_back(part.name);
    view.limits = view.limits.empty() ? run.limits : view.limits;
    view.image = view.image.empty() ? run.image : view.image;
    AddPlanned(node, part, run, view);
    for (const RankBinding& binding : run.bindings) {
      view.ranks.push_back(ViewOf(node, part, run, binding));
    }
    view.gpu_errors.insert(view.gpu_errors.end(), run.gpu_errors.begin(), run.gpu_errors.end());
  }
  view.data = DataText(attempt);
  view.checkpoints = core::CheckpointsOf(attempt);
  view.lost = end == kNoTime ? Duration(0) : core::LostWork(job, end);
  const NodeRun& first = attempt.runs.front();
  view.exit = first.status;
  view.cause = Name(attempt.ending != EndCause::kNone ? attempt.ending : first.cause);
  return view;
}

namespace {

ContainerView ViewOf(const ContainerSpec& container) {
  ContainerView view{.image = container.image};
  if (const std::size_t at = container.image.find('@'); at != std::string::npos) {
    view.digest =
        KindOf(container.image) == ImageKind::kRegistry ? container.image.substr(at + 1) : "";
  }
  for (const ContainerMount& mount : container.mounts) {
    view.mounts.push_back(ToText(mount));
  }
  view.work_dir = container.work_dir;
  view.name = container.name;
  view.save = container.save;
  view.writable = container.writable;
  view.remap_root = container.remap_root;
  return view;
}

}  // namespace

void AddAsked(const JobSpec& spec, JobDetail& detail) {
  detail.request = spec.request;
  detail.constraint = ToText(spec.request.constraint);
  detail.recorded = spec.recorded;
  detail.batch = spec.kind == JobKind::kBatch;
  detail.requeue = detail.batch && spec.requeue != Choice::kNo;
  detail.time_min = spec.time_min;
  detail.prefer = ToText(spec.prefer);
  detail.gres = ToText(spec.request.gres);
  detail.every = spec.every;
  detail.record = spec.record;
  detail.node_data = spec.node_data;
  if (spec.container.given()) {
    detail.container = ViewOf(spec.container);
  }
  Program changed;
  SetPaths(spec.paths, changed);
  detail.work_dir = std::move(changed.work_dir);
  detail.stdout_path = std::move(changed.stdout_path);
  detail.stderr_path = std::move(changed.stderr_path);
}

namespace {

// "new kernel (jobs leave by 2026-11-30 08:00:00 UTC, resumes 2026-11-30 12:00:00 UTC)"
std::string DrainText(const Node& node) {
  std::vector<std::string> times;
  if (node.drain_deadline != kNoTime) {
    times.push_back(absl::StrCat("jobs leave by ", UtcText(node.drain_deadline)));
  }
  if (node.drain_until != kNoTime) {
    times.push_back(absl::StrCat("resumes ", UtcText(node.drain_until)));
  }
  return times.empty() ? node.drain_reason
                       : absl::StrCat(node.drain_reason, " (", absl::StrJoin(times, ", "), ")");
}

}  // namespace

NodeView StatusOf(const core::ClusterState& state, const Node& node) {
  NodeView view;
  view.id = node.id;
  view.name = node.name;
  view.state = NodeState(state, node);
  view.reason = DrainText(node);
  view.health = core::HealthWord(state.health().Of(node.id));
  return view;
}

NodeView ViewOf(const core::ClusterState& state, const Node& node, bool with_machine) {
  NodeView view = StatusOf(state, node);
  view.hostname = node.hostname;
  view.features = node.features;
  view.weight = node.weight;
  view.cores = static_cast<std::uint32_t>(node.machine->cores.size());
  view.cpus = AllCpus(*node.machine).Count();
  view.cpus_taken = node.taken.cpus.Count();
  view.memory = node.machine->memory;
  view.memory_taken = node.taken.memory;
  view.gpus = static_cast<std::uint32_t>(node.machine->gpus.size());
  view.gpus_taken =
      static_cast<std::uint32_t>(std::count_if(node.taken.gpus.begin(), node.taken.gpus.end(),
                                               [](GpuShare share) { return !share.zero(); }));
  view.binding = node.machine->enforced ? "enforced"
                                        : absl::StrCat("recorded, not enforced (",
                                                       node.machine->why_not_enforced, ")");
  view.limits = node.machine->limits;
  view.gres = node.machine->gres;
  view.gres_taken = node.taken.gres;
  view.gpu_occupants = node.gpu_occupants;
  view.gpu_layouts = node.gpu_layouts;
  if (with_machine) {
    view.machine = *node.machine;
  }
  const auto add = [&](JobId job, const std::string& label, const std::string& user,
                       const NodeAllocation& part, bool quarantined) {
    HolderView holder{job, label, user, part.cpus.ToList(), part.memory, {}, quarantined};
    for (const GpuGrant& grant : part.gpus) {
      holder.gpus.push_back(grant.gpu);
    }
    holder.gpu_shares = part.gpus;
    view.holders.push_back(std::move(holder));
  };
  for (const JobId id : state.JobsOn(node.id)) {
    const Job& job = *state.FindJob(id);
    add(id, ViewOf(job, nullptr).label, job.spec->user.name,
        core::HeldPart(*job.attempt, *core::RunOn(*job.attempt, node.id)), false);
  }
  for (const QuarantinedAttempt& attempt : node.quarantined) {
    add(attempt.job, ToString(attempt.job), "unknown", attempt.allocation, true);
  }
  return view;
}

std::string BindingText(const Attempt& attempt) {
  std::size_t read = 0;
  std::size_t verified = 0;
  std::string trouble;
  std::string not_enforced;
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    read += attempt.runs[i].ranks_left_out;
    verified += attempt.runs[i].verified_left_out;
    for (const RankBinding& binding : attempt.runs[i].bindings) {
      ++read;
      if (binding.verdict == BindingVerdict::kVerified) {
        ++verified;
      } else if (binding.verdict == BindingVerdict::kNotEnforced) {
        not_enforced = binding.text;
      } else if (trouble.empty()) {
        trouble = absl::StrCat("; rank ", binding.rank, " on ", attempt.allocation.nodes[i].name,
                               " ", Name(binding.verdict), ": ", binding.text);
      }
    }
  }
  if (read == 0) {
    return "";
  }
  if (verified == 0 && trouble.empty()) {
    return absl::StrCat("not enforced (", not_enforced, ")");
  }
  return absl::StrCat("verified ", verified, "/", read, trouble);
}

}  // namespace muster::daemon
