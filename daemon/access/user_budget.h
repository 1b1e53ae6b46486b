#pragma once

// What each user may ask of the controller in a time: calls, and bytes of submitted programs.
//
// A token bucket for each user: a burst is free, and what was spent comes back with time. Root and
// the controller's own user are not bounded. Invariants: one user's calls take nothing from
// another's budget; a user who has waited long enough can always make the next call; what is kept
// of users who ask no more is bounded.

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "absl/status/status.h"
#include "daemon/door/token_bucket.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/units.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

// Of each user. A rate of zero: no bound.
struct BudgetLimits {
  std::uint32_t calls_per_second = 1000;
  std::uint32_t calls_burst = 10'000;
  Bytes program_bytes_per_second = Bytes(std::uint64_t{1} << 20);
  Bytes program_bytes_burst = Bytes(std::uint64_t{256} << 20);
};

class UserBudget {
 public:
  // `operator_uid` is bounded as little as root. `clock` outlives the budget.
  UserBudget(const BudgetLimits& limits, std::uint32_t operator_uid, const Clock& clock)
      : limits_(limits), operator_uid_(operator_uid), clock_(clock) {}

  // Takes one call from the user's budget. Unavailable, with the time to wait, when it is spent.
  absl::Status TakeCall(const User& user);
  // Takes the bytes of a submission; an own bucket.
  absl::Status TakeBytes(const User& user, std::size_t bytes);

  // How many users it remembers.
  [[nodiscard]] std::size_t size() const;

 private:
  struct Spent {
    TokenBucket calls;
    TokenBucket bytes;
  };
  absl::Status Take(const User& user, double calls, double bytes);
  void Refill(Spent& spent, SteadyTime now) const;
  void Prune(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const BudgetLimits limits_;
  const std::uint32_t operator_uid_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::unordered_map<std::uint32_t, Spent> users_ ABSL_GUARDED_BY(mutex_);
  std::size_t prune_at_ ABSL_GUARDED_BY(mutex_) = 1024;
};

}  // namespace muster::daemon
