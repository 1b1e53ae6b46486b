#pragma once

// The network between nodes as a value: switches as a tree (or several), blocks, NVLink domains.
//
// Made by topology/network/network_file and its like; the core reads it. A fat tree is its
// switches; a dragonfly is groups under one root, each the parent of its routers (the groups are
// joined all to all, so the root stands for one global hop); Slurm's block topology is blocks and
// the sizes into which they are put together. Thread promise: plain values, immutable once read.
// Invariants: (1) parents, leaves, blocks and domains are positions in the vectors of this network
// or kNowhere; (2) a switch stands after its parent; (3) node names and switch names are unique;
// (4) `level` is 0 for a switch that has nodes, else one more than the highest of its children.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/machine/machine.h"
#include "scheduler/model/value/fields.h"

namespace muster {

// What a link carries. Zero: unknown.
struct LinkSpeed {
  std::uint64_t bandwidth = 0;   // MB/s in one direction
  std::uint64_t latency_ns = 0;  // of one message of no length, one way
  static constexpr auto Fields(auto list) {
    return list(Field{"bandwidth", &LinkSpeed::bandwidth},
                Field{"latency_ns", &LinkSpeed::latency_ns});
  }
  friend bool operator==(const LinkSpeed&, const LinkSpeed&) = default;
};

enum class SwitchKind : std::uint8_t {
  kSwitch = 0,
  kGroup = 1,  // a dragonfly's group: its routers are its children, or its nodes
  kRoot = 2,   // the all-to-all links between a dragonfly's groups
};

struct NetworkSwitch {
  std::string name;
  SwitchKind kind = SwitchKind::kSwitch;
  std::uint32_t parent = kNowhere;  // position in Network::switches
  std::uint32_t level = 0;
  LinkSpeed down;  // of each link to a child or node
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &NetworkSwitch::name}, Field{"kind", &NetworkSwitch::kind},
                Field{"parent", &NetworkSwitch::parent}, Field{"level", &NetworkSwitch::level},
                Field{"down", &NetworkSwitch::down});
  }
  friend bool operator==(const NetworkSwitch&, const NetworkSwitch&) = default;
};

// A set of nodes that is scheduled as one (Slurm), or that NVLink joins across nodes.
struct NetworkGroup {
  std::string name;
  LinkSpeed speed;  // of an NVLink domain: each GPU's way into it
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &NetworkGroup::name}, Field{"speed", &NetworkGroup::speed});
  }
  friend bool operator==(const NetworkGroup&, const NetworkGroup&) = default;
};

struct NetworkNode {
  std::string name;
  std::uint32_t leaf = kNowhere;    // position in Network::switches
  std::uint32_t block = kNowhere;   // position in Network::blocks
  std::uint32_t domain = kNowhere;  // position in Network::nvlink_domains
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &NetworkNode::name}, Field{"leaf", &NetworkNode::leaf},
                Field{"block", &NetworkNode::block}, Field{"domain", &NetworkNode::domain});
  }
  friend bool operator==(const NetworkNode&, const NetworkNode&) = default;
};

struct Network {
  std::vector<NetworkSwitch> switches;
  std::vector<NetworkGroup> blocks;        // in the order in which they may be put together
  std::vector<std::uint32_t> block_sizes;  // nodes in a base block and in what is put together
  std::vector<NetworkGroup> nvlink_domains;
  std::vector<NetworkNode> nodes;    // in the order of the source
  std::string source;                // the file
  std::vector<std::string> remarks;  // what the source leaves open or says and we do not use
  static constexpr auto Fields(auto list) {
    return list(Field{"switches", &Network::switches}, Field{"blocks", &Network::blocks},
                Field{"block_sizes", &Network::block_sizes},
                Field{"nvlink_domains", &Network::nvlink_domains}, Field{"nodes", &Network::nodes},
                Field{"source", &Network::source}, Field{"remarks", &Network::remarks});
  }
  friend bool operator==(const Network&, const Network&) = default;
};

// The position of the switch, or kNowhere.
inline std::uint32_t PositionOfSwitch(const Network& network, const std::string& name) {
  for (std::size_t i = 0; i < network.switches.size(); ++i) {
    if (network.switches[i].name == name) {
      return static_cast<std::uint32_t>(i);
    }
  }
  return kNowhere;
}

// Whether the first switch (positions) is the second or stands above it.
inline bool IsAtOrAbove(const Network& network, std::uint32_t above, std::uint32_t at) {
  while (at != kNowhere && at != above) {
    at = network.switches[at].parent;
  }
  return at == above;
}

// The lowest switch above both nodes (positions), or kNowhere: the way between them is not known.
inline std::uint32_t SwitchAbove(const Network& network, std::uint32_t a, std::uint32_t b) {
  std::uint32_t left = network.nodes[a].leaf;
  std::uint32_t right = network.nodes[b].leaf;
  while (left != right && left != kNowhere && right != kNowhere) {
    // A parent stands before its children, so the later of the two is never above the other.
    if (left > right) {
      left = network.switches[left].parent;
    } else {
      right = network.switches[right].parent;
    }
  }
  return left == right ? left : kNowhere;
}

}  // namespace muster
