#pragma once

// Strong ids: a number that can name only one kind of thing.
//
// Invariants: (1) two ids of different kinds do not convert into one another; (2) 0 is never handed
// out, so a default-made id names nothing.

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace muster {

template <class Tag, class Rep = std::uint64_t>
class Id {
 public:
  using rep = Rep;
  constexpr Id() = default;
  constexpr explicit Id(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  [[nodiscard]] constexpr bool valid() const { return value_ != 0; }
  [[nodiscard]] constexpr Id Next() const { return Id(static_cast<Rep>(value_ + 1)); }
  friend constexpr auto operator<=>(Id, Id) = default;  // NOLINT(modernize-use-nullptr): is none

 private:
  Rep value_ = 0;
};

template <class Tag, class Rep>
std::string ToString(Id<Tag, Rep> id) {
  return std::to_string(id.value());
}

// A job, or one element of an array: an array of n elements owns n consecutive ids.
using JobId = Id<struct JobTag>;
// A node, numbered by the controller at its first registration and never reused.
using NodeId = Id<struct NodeTag, std::uint32_t>;
// One execution of a job: 1 for the first, one more for each requeue.
using AttemptNumber = Id<struct AttemptTag, std::uint32_t>;
// The controller's term: one more at each start. Orders of an older epoch are refused.
using Epoch = Id<struct EpochTag>;
// The position of an event in the journal; also the version of a state.
using Version = Id<struct VersionTag>;
// A step of an attempt, numbered from 1 (0 names the batch script itself).
using StepId = Id<struct StepTag, std::uint32_t>;

}  // namespace muster

template <class Tag, class Rep>
struct std::hash<muster::Id<Tag, Rep>> {
  std::size_t operator()(muster::Id<Tag, Rep> id) const noexcept {
    return std::hash<Rep>()(id.value());
  }
};
