#pragma once

// What is taken of a node: cores, memory and GPUs; the only arithmetic on it. And whose jobs it
// has.
//
// Invariants: no core is taken twice, no GPU more than whole; a violation ends the program in every
// build.

#include <algorithm>
#include <cstdint>

#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/node.h"

namespace muster::core {

// Adds to, and takes from, what is taken of a node. REQUIRES: what is added is free, what is freed
// is taken.
void AddUse(NodeUse& use, const Machine& machine, const NodeAllocation& allocation);
// The same where what is added may be taken already: threads count once, a GPU is at most whole.
// For attempts that agents report and this controller did not plan.
void CoverUse(NodeUse& use, const Machine& machine, const NodeAllocation& allocation);
void SubtractUse(NodeUse& use, const NodeAllocation& allocation);

// Stands for a user where nobody asks for nodes for one user's jobs alone.
inline constexpr std::uint32_t kAnyUser = UINT32_MAX;

// Whose jobs a node has, and which of these users want no others there: as bounds of their numbers,
// which is all that is needed to say whether they are one user.
class NodeUsers {
 public:
  // `alone`: that job lets none of other users on its nodes.
  void Add(std::uint32_t user, bool alone) {
    Widen(all_, {user, user});
    if (alone) {
      Widen(alone_, {user, user});
    }
  }
  void Add(const NodeUsers& others) {
    Widen(all_, others.all_);
    Widen(alone_, others.alone_);
  }
  // Whether a job of the user may be here beside them.
  [[nodiscard]] bool Admit(std::uint32_t user, bool alone) const {
    return user == kAnyUser || (IsWithin(alone_, user) && (!alone || IsWithin(all_, user)));
  }
  // Whether some other user's job wants no others here.
  [[nodiscard]] bool AreKeptFrom(std::uint32_t user) const { return !IsWithin(alone_, user); }
  friend bool operator==(const NodeUsers&, const NodeUsers&) = default;

 private:
  struct Bounds {
    std::uint32_t least = UINT32_MAX;
    std::uint32_t most = 0;
    friend bool operator==(const Bounds&, const Bounds&) = default;
  };
  static void Widen(Bounds& bounds, const Bounds& others) {
    bounds.least = std::min(bounds.least, others.least);
    bounds.most = std::max(bounds.most, others.most);
  }
  // True of no user at all, too.
  static bool IsWithin(const Bounds& bounds, std::uint32_t user) {
    return bounds.least >= user && bounds.most <= user;
  }

  Bounds all_;
  Bounds alone_;
};

}  // namespace muster::core
