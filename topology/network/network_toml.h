#pragma once

// Our own file for networks, TOML: switches, links with bandwidth and latency, dragonfly groups,
// NVLink domains across nodes.
//
//   [switch.leaf1]                     # a fat tree: leaves have nodes, the others switches
//   nodes = "n[1-4]"
//   bandwidth = "400Gb/s"              # of each link below it, one direction
//   latency = "600ns"
//   [switch.spine]
//   switches = "leaf[1-2]"
//   [group.g1]                         # a dragonfly: its groups are joined all to all
//   switches = "r[1-4]"                # or nodes
//   [dragonfly]                        # the links between groups
//   bandwidth = "200Gb/s"
//   [nvlink.rack1]                     # GPUs of these nodes reach each other by NVLink
//   nodes = "n[1-18]"
//   bandwidth = "900GB/s"
//   [block]                            # Slurm's blocks
//   sizes = "4,8"
//   [block.b1]
//   nodes = "n[1-4]"
//
// Invariants: a network is returned whole or not at all; errors are InvalidArgument "NAME:LINE: …".

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/network.h"

namespace muster::topology {

absl::StatusOr<Network> ParseNetworkToml(const std::string& text, const std::string& name);

// "400Gb/s", "50GB/s", "12.5GB/s", "900MB/s": MB/s (10^6 bytes), rounded; nothing for other text.
std::optional<std::uint64_t> ParseBandwidth(const std::string& text);
// "600ns", "1.5us", "2ms": nanoseconds, rounded; nothing for other text.
std::optional<std::uint64_t> ParseLatency(const std::string& text);

}  // namespace muster::topology
