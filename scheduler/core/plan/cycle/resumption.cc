#include "scheduler/core/plan/cycle/resumption.h"

#include <algorithm>
#include <tuple>

#include "scheduler/core/policy/queue_tiers.h"

namespace muster::core {
namespace {

// True when the job waits for its cores, not for an operator or for its nodes to freeze it.
bool WantsCores(const Snapshot& snapshot, const RunningJob& job) {
  if (!IsSuspended(job.state) || job.ending) {
    return false;
  }
  return job.suspended_by == SuspendedBy::kReleased ||
         (job.suspended_by == SuspendedBy::kPreemption && !OwnCoresOf(snapshot, job).empty());
}

void AddHolders(const NodeSnapshot& node, const CpuSet& own,
                const std::vector<PlannedStart>& starts, std::vector<JobId>& holders) {
  for (const Holding& other : node.holdings) {
    if (other.cpus.Meets(own)) {
      holders.push_back(other.job);
    }
  }
  for (const PlannedStart& start : starts) {
    for (const NodeAllocation& part : start.allocation.nodes) {
      if (part.node == node.id && part.cpus.Meets(own)) {
        holders.push_back(start.job);
      }
    }
  }
}

}  // namespace

std::vector<OwnCores> OwnCoresOf(const Snapshot& snapshot, const RunningJob& job) {
  std::vector<OwnCores> parts;
  for (const NodeId id : job.nodes) {
    const auto node = std::lower_bound(
        snapshot.nodes.begin(), snapshot.nodes.end(), id,
        [](const NodeSnapshot& node_snapshot, NodeId other) { return node_snapshot.id < other; });
    for (const Holding& holding : node->holdings) {
      if (holding.job == job.id && !holding.given_back.Empty()) {
        parts.push_back(
            OwnCores{static_cast<std::uint32_t>(node - snapshot.nodes.begin()), &holding});
      }
    }
  }
  return parts;
}

std::optional<Reason> WhyNotBack(const std::vector<OwnCores>& parts,
                                 const std::vector<const NodeSnapshot*>& now,
                                 const std::vector<PlannedStart>& starts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const CpuSet& own = parts[i].holding->given_back;
    const CpuSet taken = own & now[i]->taken.cpus;
    if (now[i]->up && taken.Empty()) {
      continue;
    }
    Reason reason;
    reason.kind = ReasonKind::kSuspended;
    reason.name = now[i]->name;
    if (now[i]->up) {
      reason.needed = own.Count();
      reason.used = taken.Count();
      reason.until = parts[i].holding->back;
      AddHolders(*now[i], own, starts, reason.holders);
    }
    return reason;
  }
  return std::nullopt;
}

Resumption::Resumption(const Snapshot& snapshot, const std::vector<QueueEntry>& order,
                       StartOptions& options, const Preemption& preemption)
    : snapshot_(snapshot), options_(options), preemption_(preemption) {
  if (snapshot.none_suspended) {
    return;
  }
  for (const RunningJob& job : snapshot.running) {
    if (WantsCores(snapshot, job)) {
      returning_.push_back(Returning{&job, 0, 0});
    }
  }
  if (returning_.empty()) {
    return;
  }
  const QueueTiers tiers(snapshot.policy == nullptr ? nullptr : snapshot.policy->site.get());
  for (Returning& returning : returning_) {
    returning.tier = tiers.Of(*returning.job->spec);
    returning.place = preemption.possible() ? order.size() : 0;
    while (returning.place > 0 &&
           !WouldTake(snapshot.waiting[order[returning.place - 1].entry], *returning.job)) {
      --returning.place;
    }
  }
  std::sort(returning_.begin(), returning_.end(), [](const Returning& a, const Returning& b) {
    return std::tuple(a.place, ~a.tier, a.job->started, a.job->id) <
           std::tuple(b.place, ~b.tier, b.job->started, b.job->id);
  });
}

bool Resumption::WouldTake(const WaitingJob& job, const RunningJob& cores) const {
  if (job.held || job.dependency != nullptr || job.spec->begin > snapshot_.now) {
    return false;
  }
  const std::vector<const StartOption*>& options = options_.Of(job.spec);
  return std::any_of(options.begin(), options.end(), [&](const StartOption* option) {
    return preemption_.Outranks(job, *option, cores);
  });
}

std::vector<const RunningJob*> Resumption::TakeDue(std::size_t place) {
  std::vector<const RunningJob*> due;
  for (; next_ < returning_.size() && returning_[next_].place <= place; ++next_) {
    due.push_back(returning_[next_].job);
  }
  return due;
}

}  // namespace muster::core
