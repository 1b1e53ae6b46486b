#include "scheduler/core/free_in_all.h"

#include <algorithm>

namespace muster {

void FreeInAll::Fill(const std::vector<NodeTimeline>& timelines, const std::vector<bool>& usable) {
  std::vector<FreeChange> changes;
  for (std::size_t node = 0; node < timelines.size(); ++node) {
    if (usable[node]) {
      timelines[node].AppendChanges(changes);
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const FreeChange& a, const FreeChange& b) { return a.at < b.at; });
  Clear();
  AmountsInAll sum;
  for (const FreeChange& change : changes) {
    sum.cores += change.cores;
    sum.gpus += change.gpus;
    if (times_.empty() || times_.back() != change.at) {
      times_.push_back(change.at);
      amounts_.push_back(sum);
    } else {
      amounts_.back() = sum;
    }
  }
}

void FreeInAll::Clear() {
  times_.clear();
  amounts_.clear();
}

std::size_t FreeInAll::At(Time when) const {
  const auto after = std::upper_bound(times_.begin() + 1, times_.end(), when);
  return static_cast<std::size_t>(after - times_.begin()) - 1;
}

std::size_t FreeInAll::Split(Time when) {
  const std::size_t at = At(when);
  if (times_[at] >= when) {
    return at;
  }
  const auto next = static_cast<std::ptrdiff_t>(at) + 1;
  times_.insert(times_.begin() + next, when);
  const AmountsInAll same = amounts_[at];
  amounts_.insert(amounts_.begin() + next, same);
  return at + 1;
}

void FreeInAll::Take(const AmountsInAll& amounts, Time from, Time until) {
  const std::size_t first = Split(from);
  const std::size_t end = until >= kFarFuture ? times_.size() : Split(until);
  for (std::size_t i = first; i < end; ++i) {
    amounts_[i].cores -= amounts.cores;
    amounts_[i].gpus -= amounts.gpus;
  }
}

Time FreeInAll::EarliestFit(const AmountsInAll& amounts, Time from, Duration duration) const {
  if (times_.empty()) {
    return kFarFuture;  // no node is usable
  }
  Time start = from;
  for (std::size_t i = At(from); i < times_.size(); ++i) {
    if (times_[i] >= NeededUntil(start, duration)) {
      return start;
    }
    if (amounts_[i].cores < amounts.cores || amounts_[i].gpus < amounts.gpus) {
      start = i + 1 < times_.size() ? times_[i + 1] : kFarFuture;
    }
  }
  return start;
}

Time FreeInAll::NextChange(Time after) const {
  const auto next = std::upper_bound(times_.begin(), times_.end(), after);
  return next == times_.end() ? kFarFuture : *next;
}

}  // namespace muster
