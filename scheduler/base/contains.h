#pragma once

// Whether a list has a value.
//
// For short lists in no order: each question looks at every element. A list may hold one type of
// text and the value be another. Pure.

#include <algorithm>
#include <iterator>

namespace muster {

template <class List, class Value>
bool Contains(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

// The same for lists of what is wanted: an empty one wants everything.
template <class List, class Value>
bool Admits(const List& list, const Value& value) {
  return list.empty() || Contains(list, value);
}

}  // namespace muster
