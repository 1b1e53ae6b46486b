#pragma once

// The ports of InfiniBand and RoCE of this node, by /sys/class/infiniband (the kernel's
// Documentation/ABI/stable/sysfs-class-infiniband).
//
// Thread promise: the owner's thread. Invariants: a port that says no data has no counters; what
// none of the ports counts is not there, and never 0; a counter that went down began again.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster::agent {

inline constexpr const char* kFabricPorts = "/sys/class/infiniband";

// What a port has counted since its driver was loaded.
struct FabricPort {
  Bytes sent;
  Bytes received;
  double bytes_per_second = 0;                // its rate, one way; 0: it does not say
  std::optional<std::uint64_t> errors = {};   // damaged or dropped packets, links that went down
  std::optional<std::uint64_t> retries = {};  // late, out of order, or sent again
};

// By "mlx5_0/1".
std::map<std::string, FabricPort> ReadFabricPorts(const std::string& directory = kFabricPorts);

// What all ports of the node did between two looks.
struct FabricUse {
  Bytes sent;
  Bytes received;
  Duration busy{0};  // that the busiest would take for it at its rate, in its busier direction
  std::optional<std::uint64_t> errors = {};
  std::optional<std::uint64_t> retries = {};
};

class FabricMeter {
 public:
  explicit FabricMeter(std::string directory = kFabricPorts) : directory_(std::move(directory)) {}

  // Nothing at the first look, and where there are no ports.
  std::optional<FabricUse> Look();

 private:
  const std::string directory_;
  std::map<std::string, FabricPort> before_;
};

}  // namespace muster::agent
