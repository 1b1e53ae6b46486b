#pragma once

// The tree over which the supervisors of a step talk: a heap of arity kArity over their positions.
//
// Position 0 is the root; the parent of i is (i - 1) / kArity. Up to nine nodes are a star, a
// thousand are four deep. Invariants: every position but 0 has one parent, lower than itself; by
// NextHop a frame reaches any position in at most twice the depth.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace muster::agent {

class ExchangeTree {
 public:
  static constexpr std::uint32_t kArity = 8;

  // REQUIRES: self < count.
  ExchangeTree(std::uint32_t self, std::uint32_t count) : self_(self), count_(count) {}

  [[nodiscard]] std::uint32_t self() const { return self_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] bool IsRoot() const { return self_ == 0; }
  // REQUIRES: not the root.
  [[nodiscard]] std::uint32_t Parent() const { return ParentOf(self_); }

  [[nodiscard]] std::vector<std::uint32_t> Children() const {
    std::vector<std::uint32_t> children;
    const std::uint64_t first = std::uint64_t{self_} * kArity + 1;
    for (std::uint64_t i = first; i < std::min<std::uint64_t>(first + kArity, count_); ++i) {
      children.push_back(static_cast<std::uint32_t>(i));
    }
    return children;
  }

  [[nodiscard]] bool IsChild(std::uint32_t other) const {
    return other < count_ && other > 0 && ParentOf(other) == self_;
  }

  // The neighbour on the way to `to`. REQUIRES: to != self, to < count.
  [[nodiscard]] std::uint32_t NextHop(std::uint32_t to) const {
    for (std::uint32_t below = to; below > self_; below = ParentOf(below)) {
      if (ParentOf(below) == self_) {
        return below;
      }
    }
    return Parent();
  }

 private:
  static std::uint32_t ParentOf(std::uint32_t position) { return (position - 1) / kArity; }

  std::uint32_t self_;
  std::uint32_t count_;
};

}  // namespace muster::agent
