#include "daemon/access/user_budget.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kPruneAtLeast = 1024;

// Seconds until `cost` fits into a bucket of `burst`; a cost beyond the burst fits an empty one.
double SecondsToWait(double spent, double cost, double burst, double rate) {
  const double room = std::max(burst, cost) - cost;
  return rate == 0 || spent <= room ? 0 : (spent - room) / rate;
}

absl::Status Wait(const User& user, const std::string& what, double seconds) {
  return absl::UnavailableError(absl::StrFormat(
      "%s asks too much of the controller at once: more than %s; try again in %.1f s", user.name,
      what, std::max(seconds, 0.1)));
}

}  // namespace

absl::Status UserBudget::TakeCall(const User& user) {
  return Take(user, 1, 0);
}

absl::Status UserBudget::TakeBytes(const User& user, std::size_t bytes) {
  return Take(user, 0, static_cast<double>(bytes));
}

std::size_t UserBudget::size() const {
  const MutexLock lock(&mutex_);
  return users_.size();
}

absl::Status UserBudget::Take(const User& user, double calls, double bytes) {
  if (user.uid == 0 || user.uid == operator_uid_) {
    return absl::OkStatus();
  }
  const auto byte_rate = static_cast<double>(limits_.program_bytes_per_second.value());
  const SteadyTime now = clock_.SteadyNow();
  const MutexLock lock(&mutex_);
  Prune(now);
  Spent& spent = users_[user.uid];
  Refill(spent, now);
  if (const double wait =
          SecondsToWait(spent.calls.spent(), calls, limits_.calls_burst, limits_.calls_per_second);
      calls > 0 && wait > 0) {
    return Wait(user, absl::StrFormat("%u calls a second", limits_.calls_per_second), wait);
  }
  if (const double wait =
          SecondsToWait(spent.bytes.spent(), bytes,
                        static_cast<double>(limits_.program_bytes_burst.value()), byte_rate);
      bytes > 0 && wait > 0) {
    return Wait(user,
                absl::StrFormat("%u KiB of scripts and environments a second",
                                limits_.program_bytes_per_second.value() >> 10),
                wait);
  }
  spent.calls.Spend(limits_.calls_per_second == 0 ? 0 : calls);
  spent.bytes.Spend(byte_rate == 0 ? 0 : bytes);
  return absl::OkStatus();
}

void UserBudget::Refill(Spent& spent, SteadyTime now) const {
  spent.calls.Refill(limits_.calls_per_second, now);
  spent.bytes.Refill(static_cast<double>(limits_.program_bytes_per_second.value()), now);
}

void UserBudget::Prune(SteadyTime now) {
  if (users_.size() < prune_at_) {
    return;
  }
  std::erase_if(users_, [&](const auto& entry) {
    Spent spent = entry.second;
    Refill(spent, now);
    return spent.calls.spent() == 0 && spent.bytes.spent() == 0;
  });
  prune_at_ = std::max(kPruneAtLeast, 2 * users_.size());
}

}  // namespace muster::daemon
