#include "scheduler/core/state/invariants.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/core/state/tables/node_use.h"

namespace muster::core {
namespace {

using Problem = std::optional<std::string>;

bool HasGpus(const NodeAllocation& part, const RankPlacement& rank) {
  return std::all_of(rank.gpus.begin(), rank.gpus.end(), [&](std::uint32_t gpu) {
    return std::any_of(part.gpus.begin(), part.gpus.end(),
                       [&](const GpuGrant& grant) { return grant.gpu == gpu; });
  });
}

Problem CheckRanks(const Job& job) {
  std::set<std::uint32_t> numbers;
  std::size_t count = 0;
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    for (const RankPlacement& rank : part.ranks) {
      numbers.insert(rank.rank);
      ++count;
      if (&rank != part.ranks.data() && (&rank)[-1].rank >= rank.rank) {
        return absl::StrCat("job ", ToString(job.id), ": ranks are not numbered in order");
      }
      if (!part.cpus.Includes(rank.cpus) || rank.cpus.Empty() ||
          !part.mem_nodes.Includes(rank.mem_nodes) || !HasGpus(part, rank)) {
        return absl::StrCat("job ", ToString(job.id), ": rank ", rank.rank,
                            " has threads, memory nodes or GPUs outside its node's part");
      }
    }
  }
  if (numbers.size() != count || (count > 0 && *numbers.rbegin() + 1 != count)) {
    return absl::StrCat("job ", ToString(job.id), ": ranks are not numbered 0 to n-1");
  }
  return std::nullopt;
}

// What a step has to itself on a node is its alone, and the job's.
Problem CheckSteps(const Job& job) {
  std::map<NodeId, NodeAllocation> held;
  const std::string name = absl::StrCat("job ", ToString(job.id));
  for (const StepRun& step : job.attempt->steps) {
    for (const NodeAllocation& part : step.placement.nodes) {
      const bool here = std::find(step.waiting_for.begin(), step.waiting_for.end(), part.node) !=
                        step.waiting_for.end();
      if (!here || !step.exclusive) {
        continue;
      }
      NodeAllocation& all = held[part.node];
      const bool same_gpu =
          std::any_of(part.gpus.begin(), part.gpus.end(), [&](const GpuGrant& grant) {
            return std::any_of(all.gpus.begin(), all.gpus.end(),
                               [&](const GpuGrant& other) { return other.gpu == grant.gpu; });
          });
      if (all.cpus.Meets(part.cpus) || same_gpu) {
        return absl::StrCat(name, ": two of its steps have the same threads or GPUs to themselves");
      }
      all.cpus |= part.cpus;
      all.gpus.insert(all.gpus.end(), part.gpus.begin(), part.gpus.end());
    }
  }
  StepId last;
  for (const QueuedStep& step : job.attempt->queued_steps) {
    if (step.id <= last || step.id > job.attempt->last_step) {
      return absl::StrCat(name, ": its steps do not wait in the order in which they came");
    }
    last = step.id;
  }
  return std::nullopt;
}

Problem CheckSuspension(const ClusterState& state, const Job& job) {
  const std::string name = absl::StrCat("job ", ToString(job.id));
  const bool suspended = IsSuspended(job.state);
  if (state.index().suspended().contains(job.id) != suspended) {
    return absl::StrCat(name, ": is ", Name(job.state), " and wrongly in or out of the suspended");
  }
  if (!job.attempt.has_value()) {
    return std::nullopt;
  }
  const Attempt& attempt = *job.attempt;
  const bool frozen = IsToBeFrozen(attempt);
  if (frozen != (attempt.suspended_by != SuspendedBy::kNobody) ||
      (frozen && !suspended && !IsCompleting(job.state)) || (suspended && !frozen)) {
    return absl::StrCat(name, ": is ", Name(job.state), " after ", attempt.suspension,
                        " suspensions and resumptions");
  }
  if (!HoldsCores(attempt) && !frozen) {
    return absl::StrCat(name, ": has given its cores back and is to run");
  }
  for (const NodeRun& run : attempt.runs) {
    if (run.suspension > attempt.suspension) {
      return absl::StrCat(name, ": a node has carried out a suspension that was never ordered");
    }
  }
  return std::nullopt;
}

Problem CheckJob(const ClusterState& state, const Job& job) {
  const std::string name = absl::StrCat("job ", ToString(job.id));
  if (IsTerminal(job.state)) {
    return absl::StrCat(name, ": is ", Name(job.state), " and still in the state");
  }
  if (job.attempt.has_value() != IsAllocated(job.state)) {
    return absl::StrCat(name, ": is ", Name(job.state), " and has ",
                        job.attempt.has_value() ? "an" : "no", " attempt");
  }
  const bool untouched = state.jobs().IsUntouched(job.id);
  if (untouched ? state.index().pending().contains(job.id) || !IsWaiting(job.state)
                : state.index().pending().contains(job.id) != (IsWaiting(job.state))) {
    return absl::StrCat(name, ": is ", Name(job.state), " and wrongly in or out of the queue");
  }
  if (job.id >= state.next_job()) {
    return absl::StrCat(name, ": was never given out");
  }
  if (Problem problem = CheckSuspension(state, job)) {
    return problem;
  }
  if (!job.attempt.has_value()) {
    return std::nullopt;
  }
  if (job.attempt->runs.size() != job.attempt->allocation.nodes.size()) {
    return absl::StrCat(name, ": has not one run for each node");
  }
  if (Problem problem = CheckSteps(job)) {
    return problem;
  }
  return CheckRanks(job);
}

// Adds a part to what is taken of its node, saying what is taken twice. Only a suspended job holds
// no thread.
Problem Add(const ClusterState& state, const std::string& holder, const NodeAllocation& part,
            bool suspended, std::map<NodeId, NodeUse>& taken) {
  const Node* node = state.FindNode(part.node);
  if (node == nullptr) {
    return absl::StrCat(holder, ": is on a node that does not exist");
  }
  if (part.cpus.Empty() != suspended) {
    return absl::StrCat(holder, ": holds ", suspended ? "threads, suspended, of " : "no thread of ",
                        node->name);
  }
  NodeUse& use = taken[part.node];
  if (use.cpus.Meets(part.cpus)) {
    return absl::StrCat(holder, ": shares threads ", (use.cpus & part.cpus).ToList(), " of ",
                        node->name);
  }
  use.gpus.resize(std::max(use.gpus.size(), node->taken.gpus.size()));
  for (const GpuGrant& grant : part.gpus) {
    if (grant.gpu >= use.gpus.size()) {
      return absl::StrCat(holder, ": holds GPU ", grant.gpu, " of ", node->name,
                          ", which does not count it as taken");
    }
    if (use.gpus[grant.gpu] + grant.share > kWholeGpu) {
      return absl::StrCat(holder, ": shares GPU ", grant.gpu, " of ", node->name);
    }
  }
  CoverUse(use, *node->machine, part);
  return std::nullopt;
}

// A waiting job for each entry of the queue, and the running elements of each array counted right.
Problem CheckIndexes(const ClusterState& state) {
  std::map<JobId, std::uint32_t> running;
  std::size_t waiting = 0;
  state.jobs().ForEachRun([&](const Job& job, std::uint32_t count) {
    waiting += IsWaiting(job.state) ? count : 0;
    if (job.attempt.has_value() && job.spec->array.has_value() &&
        job.spec->array->max_running > 0) {
      ++running[job.submission];
    }
  });
  for (const JobId id : state.index().suspended()) {
    if (state.FindJob(id) == nullptr) {
      return absl::StrCat("job ", ToString(id), ": is suspended and not in the state");
    }
  }
  if (WaitingJobs(state) != waiting) {
    return absl::StrCat("the queue has ", WaitingJobs(state), " jobs, ", waiting, " wait");
  }
  const PolicyUseTable& policy = state.policy();
  if (policy.active() &&
      !(policy.Recount(state.jobs(), state.nodes()) == policy.snapshot().usage)) {
    return std::string("the use that limits count is not the sum over the jobs");
  }
  if (running != state.index().array_running()) {
    return std::string("the running elements of an array are counted wrongly");
  }
  return std::nullopt;
}

// Where one job lets only its user's on the node, there are no others.
Problem CheckUsers(const ClusterState& state, const Node& node) {
  NodeUsers users;
  for (const JobId id : state.JobsOn(node.id)) {
    const JobSpec& spec = *state.FindJob(id)->spec;
    if (!users.Admit(spec.user.uid, spec.request.exclusive_user)) {
      return absl::StrCat("node ", node.name, ": job ", ToString(id),
                          " is beside those of another user");
    }
    users.Add(spec.user.uid, spec.request.exclusive_user);
  }
  return std::nullopt;
}

bool SameUse(NodeUse a, NodeUse b) {
  const std::size_t gpus = std::max(a.gpus.size(), b.gpus.size());
  a.gpus.resize(gpus);
  b.gpus.resize(gpus);
  return a == b;
}

// `used` is what its jobs use there.
Problem CheckNode(const ClusterState& state, NodeId id, const Node& node, NodeUse& used) {
  for (const QuarantinedAttempt& attempt : node.quarantined) {
    if (attempt.allocation.node != id) {
      return absl::StrCat("node ", node.name, ": quarantines an attempt of another node");
    }
    CoverUse(used, *node.machine, attempt.allocation);
  }
  if (node.id != id || id >= state.node_table().next()) {
    return absl::StrCat("node ", node.name, ": has an id that was never given out");
  }
  if (!SameUse(used, node.taken)) {
    return absl::StrCat("node ", node.name, ": what is taken is not the sum over its jobs");
  }
  if (state.power().away().contains(id) && node.connected && !state.JobsOn(id).empty()) {
    return absl::StrCat("node ", node.name, ": has a job and is ",
                        Name(state.power().Of(id).state));
  }
  return CheckUsers(state, node);
}

}  // namespace

std::optional<std::string> BrokenInvariant(const ClusterState& state) {
  std::map<NodeId, NodeUse> taken;
  for (const auto& [id, job] : state.jobs()) {
    if (Problem problem = CheckJob(state, job)) {
      return problem;
    }
    if (!job.attempt.has_value()) {
      continue;
    }
    for (std::size_t i = 0; i < job.attempt->allocation.nodes.size(); ++i) {
      if (Problem problem = Add(state, absl::StrCat("job ", ToString(id)),
                                HeldPart(*job.attempt, i), !HoldsCores(*job.attempt), taken)) {
        return problem;
      }
    }
  }
  for (const auto& [id, node] : state.nodes()) {
    if (Problem problem = CheckNode(state, id, node, taken[id])) {
      return problem;
    }
  }
  return CheckIndexes(state);
}

}  // namespace muster::core
