#pragma once

// The account tree of a live cluster: shares from the policy, usage from the usage table, and what
// runs charged up to now.
//
// Invariants: (1) the tree passes CheckAccountTree; (2) every user who waits, runs or has used
// something is in it: one whom the policy does not know has one share in the account that the job
// names, and an account that it does not know one share of root's.

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "scheduler/core/share/running_charges.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/share_status.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

struct LiveShares {
  AccountTree tree;
  // Positions in tree.associations by account ("root" for none), user.
  std::map<std::pair<std::string, std::string>, std::size_t> positions;

  // The association that a job of this spec is charged to. REQUIRES: it was in the snapshot.
  [[nodiscard]] std::size_t PositionOf(const JobSpec& spec) const;
};

LiveShares LiveSharesOf(const Snapshot& snapshot);
// The same; what is kept of the running jobs saves work.
LiveShares LiveSharesOf(const Snapshot& snapshot, RunningCharges& charges);

// The share status of all users by the configured rule.
ShareStatuses ShareStatusesOf(const AccountTree& tree, const PriorityConfig& config);

}  // namespace muster::core
