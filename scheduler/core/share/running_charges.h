#pragma once

// What the jobs that run have used by now, by account and user, from cycle to cycle.
//
// A run's charge is a difference of two values of one integral (core/share/decay.h). The first, up
// to where the run began, stays the same for a period of sixteen half-lives and is kept; the second
// is worked out once for all runs. Thread promise: a value, owned by one planner. Invariants: the
// charges are those of Charge() to the last bit, whatever was kept.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "scheduler/core/share/decay.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

class RunningCharges {
 public:
  // The charges of one user's jobs in one account.
  struct Charge {
    const std::string* account = nullptr;  // of the snapshot
    const std::string* user = nullptr;
    absl::uint128 grains = 0;  // at the beginning of period()
    bool any = false;          // some have run for a time
  };

  // Those of the snapshot, in the order in which its running jobs first name them.
  const std::vector<Charge>& Of(const Snapshot& snapshot);
  // The period of the charges given last.
  [[nodiscard]] std::int64_t period() const { return period_; }

 private:
  struct Run {
    JobId job;
    Time from = kNoTime;
    BillingRate rate;
    absl::uint128 before = 0;  // the integral up to `from`
    std::uint32_t owner = 0;   // a position in owners_
  };

  Run NewRun(const RunningJob& job, const ChargingMoment& moment);

  std::int64_t period_ = 0;
  Duration half_life_{0};
  std::vector<Run> runs_;  // of the snapshot given last, in its order
  std::map<std::pair<std::string, std::string>, std::uint32_t> owners_;  // account, user
  std::vector<std::uint32_t> place_;  // of an owner among the charges, from 1; 0: not there yet
  std::vector<Charge> charges_;
};

}  // namespace muster::core
