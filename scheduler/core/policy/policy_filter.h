#pragma once

// Where and when policy lets a job start: partitions, reservations, and all that policy has against
// it now.
//
// Used by the planner to filter and by verify to check again. Invariants: (1) a job gets nodes of
// one of its partitions only; (2) no job that does not name a reservation runs on its nodes while
// it holds, by its time limit; (3) AddPolicyBlockers adds every blocker that does not depend on
// which nodes are free.

#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/policy/job_partition.h"
#include "scheduler/core/policy/limits.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// Whether the site has any policy to judge by.
inline bool HasRules(const Snapshot& snapshot) {
  return snapshot.policy != nullptr && !snapshot.policy->site->empty();
}

// What the partition has against any job of the spec starting: its state, its limits, who may use
// it. Nothing when it has nothing.
std::optional<Reason> PartitionBlocker(const PolicySnapshot& policy, const JobSpec& spec,
                                       const JobPartition& partition);

// What of that is about the job's time limit.
std::optional<Reason> TimeBlocker(const PolicySnapshot& policy, const JobSpec& spec,
                                  const JobPartition& partition);

// The request as it is in the partition: whole nodes where it gives only those, and no more or
// fewer nodes than it gives.
ResourceRequest RequestIn(const PolicySnapshot& policy, const JobSpec& spec,
                          const JobPartition& partition);

// Whether the job may hold the node from `start` to `end`: the node is in the partition, and no
// reservation has it for others.
bool NodeMayByPolicy(const PolicySnapshot& policy, NodeId node, const JobSpec& spec,
                     const JobPartition& partition, Time start, Time end);
// The same in any of the job's partitions that takes it. A snapshot without policy allows all.
bool NodeMayByPolicy(const Snapshot& snapshot, const NodeSnapshot& node, const WaitingJob& job,
                     Time start, Time end);

// The reservation for which a job that holds the node could not go on to `end`: another's that
// begins before, or its own that ends before.
struct ReservedFrom {
  std::string name;
  Time when = kNoTime;
  bool own = false;
};
std::optional<ReservedFrom> ReservationInTheWay(const PolicySnapshot& policy, NodeId node,
                                                const JobSpec& spec, Time start, Time end);

// Whether policy lets the job start on these nodes at `now`, limits aside.
bool MayStart(const PolicySnapshot& policy, const JobSpec& spec, const JobPartition& partition,
              const Allocation& allocation, Time now);

// All that policy has against the job starting now, whichever nodes are free: its partitions, its
// reservation, its account and QOS, the limits (by what it needs at least).
void AddPolicyBlockers(const Snapshot& snapshot, const WaitingJob& job, CycleUsage& usage,
                       std::vector<Reason>& reasons);

}  // namespace muster::core
