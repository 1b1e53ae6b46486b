#pragma once

// Whether a node is switched on: what is kept of each node that was switched off or on.
//
// Invariants: a node of which nothing is kept is on; no job is on a node that is not on, but one
// that was there before it was lost.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

enum class PowerState : std::uint8_t {
  kOn = 0,
  kPoweringDown = 1,  // its suspend program was called
  kOff = 2,
  kPoweringUp = 3,  // its resume program was called
  kFailed = 4,      // it did not come up in time: nobody waits for it any more
};

inline constexpr std::array<const char*, 5> kPowerStateNames = {
    "on", "powering down", "powered down", "powering up", "did not boot"};

constexpr const char* Name(PowerState state) {
  return kPowerStateNames[static_cast<std::size_t>(state)];
}

// Boots of one node that are remembered.
inline constexpr std::size_t kBootsKept = 8;

struct NodePower {
  NodeId node;
  PowerState state = PowerState::kOn;
  Time since = kNoTime;
  Time until = kNoTime;         // kPoweringDown, kPoweringUp: when it is given up at the latest
  Duration boot{0};             // how long it is thought to take from the order to a usable node
  std::vector<Duration> boots;  // as measured, the newest last
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodePower::node}, Field{"state", &NodePower::state},
                Field{"since", &NodePower::since}, Field{"until", &NodePower::until},
                Field{"boot", &NodePower::boot}, Field{"boots", &NodePower::boots});
  }
  friend bool operator==(const NodePower&, const NodePower&) = default;
};

}  // namespace muster
