#pragma once

// A set of job ids that costs memory for gaps, not for ids: traces number their jobs one by one.
//
// Thread promise: a value; one thread at a time. Invariants: ranges neither overlap nor touch.

#include <cstdint>
#include <iterator>
#include <limits>
#include <map>

namespace muster::sim {

class IdSet {
 public:
  // False when `id` was there already.
  bool Insert(std::int64_t id) {
    if (newest_ != ranges_.end() && id == newest_->second + 1 && id < next_first_ - 1) {
      ++newest_->second;
      return true;
    }
    const auto after = ranges_.upper_bound(id);
    if (after != ranges_.begin() && std::prev(after)->second >= id) {
      return false;
    }
    if (after != ranges_.begin() && std::prev(after)->second == id - 1) {
      newest_ = std::prev(after);
      newest_->second = id;
    } else {
      newest_ = ranges_.emplace_hint(after, id, id);
    }
    JoinNext();
    return true;
  }

 private:
  using Ranges = std::map<std::int64_t, std::int64_t>;  // first to last

  void JoinNext() {
    auto next = std::next(newest_);
    if (next != ranges_.end() && next->first == newest_->second + 1) {
      newest_->second = next->second;
      next = ranges_.erase(next);
    }
    next_first_ = next == ranges_.end() ? std::numeric_limits<std::int64_t>::max() : next->first;
  }

  Ranges ranges_;
  Ranges::iterator newest_ = ranges_.end();  // the range that grew last
  std::int64_t next_first_ = 0;              // of the range after it
};

}  // namespace muster::sim
