#include "cli/service/replica/replica_health.h"

#include <algorithm>

namespace muster::cli {
namespace {

constexpr Duration kPauseLeast = std::chrono::seconds(1);
constexpr Duration kPauseMost = std::chrono::minutes(1);
constexpr Duration kAskStarting = std::chrono::milliseconds(500);
constexpr int kGrowth = 2;

}  // namespace

void ReplicaHealth::Started(SteadyTime now) {
  runs_ = true;
  ready_ = false;
  failures_ = 0;
  started_ = now;
  next_ = now + std::min(terms_.interval, kAskStarting);
}

bool ReplicaHealth::Answered(bool well, SteadyTime now) {
  if (well) {
    ready_since_ = ready_ ? ready_since_ : now;
    ready_ = true;
    failures_ = 0;
    next_ = now + terms_.interval;
    return false;
  }
  const bool starts = !ready_ && failures_ == 0 && now < started_ + terms_.start_grace;
  next_ = now + (starts ? std::min(terms_.interval, kAskStarting) : terms_.interval);
  failures_ += starts ? 0 : 1;
  return failures_ >= terms_.failures;
}

void ReplicaHealth::Ended(SteadyTime now) {
  const bool lasted = ready_ && now - ready_since_ >= kPauseMost;
  pause_ = lasted || pause_ == Duration(0) ? kPauseLeast : std::min(pause_ * kGrowth, kPauseMost);
  runs_ = false;
  ready_ = false;
  next_ = now + pause_;
}

}  // namespace muster::cli
