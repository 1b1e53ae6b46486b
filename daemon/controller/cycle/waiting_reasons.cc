#include "daemon/controller/cycle/waiting_reasons.h"

#include <algorithm>
#include <iterator>

namespace muster::daemon {

WaitingReasons::WaitingReasons(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {
  places_.reserve(plan_->waiting.size());
  for (const LeftWaiting& left : plan_->waiting) {
    places_.emplace_back(left.job, static_cast<std::uint32_t>(places_.size()));
  }
  std::sort(places_.begin(), places_.end());
}

const LeftWaiting* WaitingReasons::EntryOf(JobId job) const {
  const auto after = std::upper_bound(places_.begin(), places_.end(), job,
                                      [](JobId id, const auto& place) { return id < place.first; });
  if (after == places_.begin()) {
    return nullptr;
  }
  const LeftWaiting& entry = plan_->waiting[std::prev(after)->second];
  return entry.Has(job) ? &entry : nullptr;
}

std::optional<Reason> WaitingReasons::ReasonOf(JobId job) const {
  const LeftWaiting* entry = EntryOf(job);
  return entry == nullptr ? std::nullopt : std::optional(entry->ReasonOf(job));
}

std::uint32_t WaitingReasons::PriorityOf(JobId job) const {
  const LeftWaiting* entry = EntryOf(job);
  return entry == nullptr ? 0 : entry->priority;
}

std::uint32_t WaitingReasons::AlikeFrom(JobId job, std::uint32_t most) const {
  if (const LeftWaiting* entry = EntryOf(job)) {
    const std::uint64_t end = entry->job.value() + entry->count;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, end - job.value()));
  }
  const auto next = std::upper_bound(places_.begin(), places_.end(), job,
                                     [](JobId id, const auto& place) { return id < place.first; });
  return next == places_.end() ? most
                               : static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                     most, next->first.value() - job.value()));
}

}  // namespace muster::daemon
