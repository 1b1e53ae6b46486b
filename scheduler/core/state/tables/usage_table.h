#pragma once

// The usage of all users, halved with each half-life: the memory of fairshare.
//
// Part of a cluster state; an attempt is charged once, when it ends, for its time from start to end
// less that in which it was suspended, as if it had started later by so much. What runs is charged
// by readers up to their moment (core/share/live_shares.h). Thread promise: none; changed only by
// ClusterState's events. Invariants: (1) one entry for each user in an account that ever was
// charged; (2) the half-life is that of the last epoch.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/job/job.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

class UsageTable {
 public:
  void Load(const std::vector<AccountUsage>& used, Duration half_life);
  // From `now` on usage halves with this half-life; what was used before is worth the same then.
  void SetHalfLife(Duration half_life, Time now);
  // Charges the job's attempt up to `now`. REQUIRES: it has one.
  void Charge(const Job& job, Time now);

  [[nodiscard]] Duration half_life() const { return half_life_; }
  // By account, then user.
  [[nodiscard]] UsageSnapshot TakeSnapshot() const;
  [[nodiscard]] AccountUsage UsageOf(const std::string& account, const std::string& user) const;

 private:
  std::map<std::pair<std::string, std::string>, DecayedUsage> used_;  // by account, user
  Duration half_life_{0};
};

}  // namespace muster::core
