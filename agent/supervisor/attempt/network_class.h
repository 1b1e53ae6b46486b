#pragma once

// What an agent's file says of the networks of its node: by which NICs a class of traffic goes, how
// its packets are marked, and how fast bulk copies may be.
//
// Invariants: (1) a class stands in a list once at most; (2) a DSCP is below 64 (RFC 2474), and the
// traffic class that InfiniBand and RoCE call it by is four times as much; (3) zero and an empty
// list mean "not given".

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/model/value/fields.h"

namespace muster::agent {

// What the ranks of a job say to one another; copies of checkpoints; files that jobs are given.
inline constexpr const char* kCollectives = "collectives";
inline constexpr const char* kCheckpoints = "checkpoints";
inline constexpr const char* kStaging = "staging";
inline constexpr std::array kTrafficClasses = {kCollectives, kCheckpoints, kStaging};

struct NetworkClass {
  std::string name;
  std::vector<std::string> nics;  // as the kernel calls them: "eth0", "mlx5_0"
  std::uint32_t dscp = 0;
  std::uint64_t rate = 0;  // bytes a second, of bulk copies
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &NetworkClass::name}, Field{"nics", &NetworkClass::nics},
                Field{"dscp", &NetworkClass::dscp}, Field{"rate", &NetworkClass::rate});
  }
  friend bool operator==(const NetworkClass&, const NetworkClass&) = default;
};
using NetworkClasses = std::vector<NetworkClass>;

// One of which nothing was said is empty.
inline NetworkClass ClassNamed(const NetworkClasses& classes, std::string_view name) {
  const auto found = std::find_if(classes.begin(), classes.end(),
                                  [name](const NetworkClass& each) { return each.name == name; });
  return found == classes.end() ? NetworkClass() : *found;
}

// What tells programs that copy of it: MUSTER_NAME_NIC, _DSCP and _RATE, as far as they are given.
inline std::vector<std::pair<std::string, std::string>> BulkVariables(const NetworkClass& traffic,
                                                                      const std::string& name) {
  const std::string begin = "MUSTER_" + name;
  std::vector<std::pair<std::string, std::string>> variables;
  std::string nics;
  for (const std::string& nic : traffic.nics) {
    nics += (nics.empty() ? "" : ",") + nic;
  }
  if (!nics.empty()) {
    variables.emplace_back(begin + "_NIC", nics);
  }
  if (traffic.dscp > 0) {
    variables.emplace_back(begin + "_DSCP", std::to_string(traffic.dscp));
  }
  if (traffic.rate > 0) {
    variables.emplace_back(begin + "_RATE", std::to_string(traffic.rate));
  }
  return variables;
}

}  // namespace muster::agent
