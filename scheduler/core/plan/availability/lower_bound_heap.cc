#include "scheduler/core/plan/availability/lower_bound_heap.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "scheduler/base/status.h"

namespace muster::core {

void EarliestQueue::Fill(std::vector<Entry> bounds, std::size_t mark) {
  const std::size_t keep = filled_ ? bounds.size() : bounds.size() / 4 + 1;
  kept_ = std::move(bounds);
  beyond_ = kFarFuture;
  if (kept_.size() > keep) {
    std::nth_element(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(keep), kept_.end());
    beyond_ = kept_[keep].first;
    kept_.resize(keep);
    kept_.shrink_to_fit();
  }
  std::sort(kept_.begin(), kept_.end());
  filled_ = true;
  mark_ = mark;
  at_ = 0;
  heap_.clear();
}

void EarliestQueue::Restart(const std::vector<Entry>& changed) {
  at_ = 0;
  heap_ = changed;
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void EarliestQueue::Renew(const std::vector<Entry>& changed, const ChangeLog& log) {
  std::erase_if(kept_, [&](const Entry& entry) { return log.ChangedSince(entry.second, mark_); });
  const auto middle = static_cast<std::ptrdiff_t>(kept_.size());
  std::copy_if(changed.begin(), changed.end(), std::back_inserter(kept_),
               [this](const Entry& entry) { return entry.first < beyond_; });
  std::sort(kept_.begin() + middle, kept_.end());
  std::inplace_merge(kept_.begin(), kept_.begin() + middle, kept_.end());
  mark_ = log.mark();
  Restart({});
}

Time EarliestQueue::Next(const ChangeLog& log) {
  SkipChanged(log);
  Time next = at_ < kept_.size() ? kept_[at_].first : beyond_;
  if (!heap_.empty()) {
    next = std::min(next, heap_.front().first);
  }
  return next;
}

bool EarliestQueue::Spent() const {
  return at_ >= kept_.size() && beyond_ < kFarFuture &&
         (heap_.empty() || heap_.front().first >= beyond_);
}

EarliestQueue::Entry EarliestQueue::Pop(const ChangeLog& log) {
  SkipChanged(log);
  if (at_ < kept_.size() && (heap_.empty() || kept_[at_] < heap_.front())) {
    return kept_[at_++];
  }
  MUSTER_CHECK(!heap_.empty());
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  const Entry entry = heap_.back();
  heap_.pop_back();
  return entry;
}

void EarliestQueue::Push(const Entry& entry) {
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void EarliestQueue::SkipChanged(const ChangeLog& log) {
  while (at_ < kept_.size() && log.ChangedSince(kept_[at_].second, mark_)) {
    ++at_;
  }
}

}  // namespace muster::core
