#pragma once

// Control groups for what the agent starts as a user outside of jobs: fetches of images, and copies
// of data ahead. They are held as a job without devices is: memory, processes, no GPU.
//
// Thread promise: the owner's thread. Invariant: a group that nothing lives in goes when the next
// one is asked for.

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "agent/attempts/attempt_cgroups.h"
#include "agent/supervisor/attempt/limit_set.h"
#include "scheduler/model/value/units.h"

namespace muster::agent {

class UserGroups {
 public:
  // `memory`: the node's, of which each user's group may have an eighth, but kLeast at least.
  UserGroups(AttemptCgroups groups, NodeLimits limits, Bytes memory)
      : groups_(std::move(groups)), limits_(std::move(limits)), memory_(memory) {}

  static constexpr Bytes kLeast{std::uint64_t{2} << 30};
  static constexpr std::uint64_t kProcessesMost = 4096;

  // The directory of the user's group; "" where none can be made.
  std::string For(std::uint32_t uid);

 private:
  const AttemptCgroups groups_;
  const NodeLimits limits_;
  const Bytes memory_;
  std::map<std::uint32_t, std::string> made_;
};

}  // namespace muster::agent
