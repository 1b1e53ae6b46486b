#pragma once

// Limits: what a job may not have yet, or not at all, by its QOS, its accounts and its association.
//
// Where several limits hold, each is checked and all that are broken are reported. Of an
// association's Max* limits the nearest counts: its own, else its account's, and so on up. Thread
// promise: pure (CycleUsage belongs to one cycle). Invariants: a job that CheckLimits passes with
// what it really gets breaks no limit by starting now; budgets count what running jobs may still
// use.

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/policy/policy_snapshot.h"

namespace muster::core {

// What is in use, with what this cycle has started.
class CycleUsage {
 public:
  // REQUIRES: the snapshot outlives it.
  explicit CycleUsage(const PolicySnapshot& snapshot) : snapshot_(snapshot) {}

  [[nodiscard]] UseCount Of(const UsageKey& key) const;
  [[nodiscard]] SpentAmount SpentOf(const UsageKey& key) const;
  void Start(const JobSpec& spec, const RunningCharge& charge);
  // The running jobs that count for the key, the first to end first; those without a limit last.
  [[nodiscard]] const std::vector<const RunningCharge*>& HoldersOf(const UsageKey& key) const;
  [[nodiscard]] const PolicySnapshot& snapshot() const { return snapshot_; }

 private:
  void Index(const RunningCharge& charge) const;

  const PolicySnapshot& snapshot_;
  std::map<UsageKey, UseCount> added_;
  std::map<JobId, RunningCharge> started_;
  mutable bool indexed_ = false;
  mutable std::map<UsageKey, std::vector<const RunningCharge*>> holders_;
};

// What a job would hold.
struct LimitAsk {
  const JobSpec* spec = nullptr;
  std::string partition;  // where it would start
  TresUse tres;
  TresUse most_on_node;  // of each resource the most on any one node
};

// What the spec will hold at least; what an allocation holds (`machine_of` a node's id).
LimitAsk LeastAsk(const JobSpec& spec, const std::string& partition);
template <class MachineOf>
LimitAsk AskOf(const JobSpec& spec, const std::string& partition, const Allocation& allocation,
               const MachineOf& machine_of);

// All limits that the job would break by starting now, with numbers and holders.
std::vector<Reason> CheckLimits(const CycleUsage& usage, const LimitAsk& ask);

// Those of one job alone (Max*PerJob, MaxWall, MaxTRESPerNode): no waiting will help.
std::vector<Reason> CheckJobLimits(const SitePolicy& site, const LimitAsk& ask);

// Refuses `count` further jobs of the spec when a submit limit does not allow them.
absl::Status CheckSubmitLimits(const PolicySnapshot& snapshot, const JobSpec& spec,
                               std::uint64_t count);

namespace internal {
void AddPart(LimitAsk& ask, const NodeAllocation& part, const Machine& machine);
}

template <class MachineOf>
LimitAsk AskOf(const JobSpec& spec, const std::string& partition, const Allocation& allocation,
               const MachineOf& machine_of) {
  LimitAsk ask{&spec, partition, TresUse(), TresUse()};
  for (const NodeAllocation& part : allocation.nodes) {
    internal::AddPart(ask, part, machine_of(part.node));
  }
  return ask;
}

}  // namespace muster::core
