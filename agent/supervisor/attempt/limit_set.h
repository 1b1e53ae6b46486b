#pragma once

// What a node, or a group of it, holds processes to, and what not, and why not; in the words that
// every view shows.
//
// Invariant: what is held is never said to be missing.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "topology/gpu/device_nodes.h"

namespace muster::agent {

struct MissingLimit {
  std::string what;  // "memory"
  std::string why;
  static constexpr auto Fields(auto list) {
    return list(Field{"what", &MissingLimit::what}, Field{"why", &MissingLimit::why});
  }
  friend bool operator==(const MissingLimit&, const MissingLimit&) = default;
};

struct LimitSet {
  std::vector<std::string> held;  // "cpuset", or with its value "cpuset 0-3"
  std::vector<MissingLimit> missing;
  // Whether `what` is held, with or without a value.
  [[nodiscard]] bool Holds(std::string_view what) const;
  friend bool operator==(const LimitSet&, const LimitSet&) = default;
};

// The controllers of cgroup v2 that hold a job, in the order in which views list them.
const std::vector<std::string>& LimitControllers();

// What a group says of its controllers.
struct GroupControllers {
  std::string group;    // its path
  std::string offered;  // its cgroup.controllers
  std::string enabled;  // its cgroup.subtree_control
  std::string refusal;  // the kernel's error when offered controllers were enabled; empty: none
};

// What can be held below such a group. "io" and "hugetlb" are held where they are there, and not
// missed where not.
LimitSet LimitsBelow(const GroupControllers& controllers);

// Nothing can be held, for one reason.
LimitSet NoLimits(const std::string& why);

// "cpuset, memory, pids, devices"; "cpuset; not memory, pids (why)"; "not enforced (why)".
std::string ToText(const LimitSet& limits);

// What a node holds attempts to, beyond what their allocations say.
struct NodeLimits : LimitSet {
  std::uint64_t pids = 0;         // processes and threads of an attempt; 0: not limited
  std::uint32_t memory_high = 0;  // per cent of its memory from which on it is slowed; 0: nowhere
  std::vector<topology::DeviceNodes> devices;  // the first that matches a device decides
  std::vector<std::string> huge_pages;         // names of its pools, "hugepages-2M"
  static constexpr auto Fields(auto list) {
    return list(Field{"held", &LimitSet::held}, Field{"missing", &LimitSet::missing},
                Field{"pids", &NodeLimits::pids}, Field{"memory_high", &NodeLimits::memory_high},
                Field{"devices", &NodeLimits::devices},
                Field{"huge_pages", &NodeLimits::huge_pages});
  }
  friend bool operator==(const NodeLimits&, const NodeLimits&) = default;
};

}  // namespace muster::agent
