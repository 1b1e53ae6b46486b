#include "cli/service/service_upkeep.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "cli/service/service_changes.h"

namespace muster::cli {
namespace {

constexpr Duration kLasting = std::chrono::seconds(2);
constexpr Duration kAddPauseLeast = std::chrono::seconds(5);
constexpr Duration kAddPauseMost = std::chrono::minutes(5);
constexpr Duration kWholeFor = std::chrono::minutes(1);
constexpr int kAddPauseGrowth = 2;

}  // namespace

UpkeepStep ServiceUpkeep::Look(const ServiceNow& service, Time wall, SteadyTime now) {
  NoteLost(service.replicas, now);
  std::vector<ServiceReplica> there = Staying(service.replicas);
  std::vector<ServiceReplica> gone;
  const auto first_gone = std::stable_partition(
      there.begin(), there.end(),
      [this, now](const ServiceReplica& replica) { return !IsGone(replica, now); });
  std::move(first_gone, there.end(), std::back_inserter(gone));
  there.erase(first_gone, there.end());
  const std::size_t asked = service.terms.replicas;
  const std::size_t most = MostMeant(service.terms, wall);
  const auto ready = static_cast<std::size_t>(std::count_if(
      there.begin(), there.end(), [](const ServiceReplica& replica) { return replica.ready(); }));
  NoteWhole(ready >= asked, now);
  if (asked > asked_) {  // more are asked for: that what was there did not last is not the reason
    BeginAdding(now);
  }
  asked_ = asked;
  UpkeepStep step;
  if (Lasts(there.size() < asked, now, &few_since_) && now >= next_add_) {
    step.add = static_cast<std::uint32_t>(asked - there.size());
    pause_ = std::clamp(pause_ * kAddPauseGrowth, kAddPauseLeast, kAddPauseMost);
    next_add_ = now + pause_;
  }
  if (Lasts(there.size() > most, now, &many_since_)) {
    there = BestFirst(std::move(there));
    std::move(there.begin() + static_cast<std::ptrdiff_t>(most), there.end(),
              std::back_inserter(step.end));
  }
  if (ready >= asked) {
    std::move(gone.begin(), gone.end(), std::back_inserter(step.end));
  }
  return step;
}

void ServiceUpkeep::NoteLost(const std::vector<ServiceReplica>& replicas, SteadyTime now) {
  std::map<JobId, SteadyTime> since;
  for (const ServiceReplica& replica : replicas) {
    if (replica.lost) {
      const auto before = lost_since_.find(replica.id);
      since[replica.id] = before == lost_since_.end() ? now : before->second;
    }
  }
  lost_since_ = std::move(since);
}

bool ServiceUpkeep::IsGone(const ServiceReplica& replica, SteadyTime now) const {
  const auto since = lost_since_.find(replica.id);
  return since != lost_since_.end() && now - since->second >= lost_after_;
}

bool ServiceUpkeep::Lasts(bool so, SteadyTime now, std::optional<SteadyTime>* since) {
  if (!so) {
    since->reset();
    return false;
  }
  *since = since->value_or(now);
  return now - **since >= kLasting;
}

void ServiceUpkeep::NoteWhole(bool whole, SteadyTime now) {
  if (!whole) {
    whole_since_.reset();
    return;
  }
  whole_since_ = whole_since_.value_or(now);
  if (now - *whole_since_ >= kWholeFor) {
    BeginAdding(now);
  }
}

void ServiceUpkeep::BeginAdding(SteadyTime now) {
  pause_ = Duration(0);
  next_add_ = now;
}

}  // namespace muster::cli
