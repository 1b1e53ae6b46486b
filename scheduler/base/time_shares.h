#pragma once

// One time for groups of many sizes: the smallest come first, and each may take an equal part of
// what those before it left.
//
// Pure but for the caller's clock. Invariant: whoever makes a group large takes the time of that
// group alone.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace muster {

// Calls look(group, deadline) for each entry of `groups`, a map of containers, until it says false.
// `now` gives the moment; `end` is the last deadline.
template <class Groups, class Now, class Moment, class Look>
void ShareTime(const Groups& groups, Now now, Moment end, Look look) {
  std::vector<const typename Groups::value_type*> order;
  order.reserve(groups.size());
  for (const auto& group : groups) {
    order.push_back(&group);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.size() < b->second.size();
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Moment begun = now();
    if (!look(*order[i], begun + (end - begun) / static_cast<long>(order.size() - i))) {
      return;
    }
  }
}

}  // namespace muster
