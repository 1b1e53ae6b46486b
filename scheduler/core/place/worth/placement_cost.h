#pragma once

// What a placement's collectives would cost: its links, level by level, and the times that follow.
//
// A job with GPUs joins them; one without joins its ranks. Within a node they are joined by NVLink
// first, then through PCIe, then across NUMA nodes; between nodes by NVLink domains, then switch by
// switch. A link within a machine is taken at what the machine says of it, or at what NCCL assumes
// of its class (its graph/topo.h and graph/tuning.cc; NVLinks at 4/5 of their rate, as there). A
// node has its network link once for each NIC that its ranks use. Invariants: (1) the levels are
// those of collective_cost.h, without those that join nothing; (2) the same placement gives the
// same answer.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/place/worth/collective_cost.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/network.h"

namespace muster::core {

// One node's part, with its machine.
struct PlacedPart {
  const NodeAllocation* allocation = nullptr;
  const Machine* machine = nullptr;
};

struct PlacementLevel {
  std::string name;  // "NVLink", "PCIe switch", …, "network", a switch's name
  std::vector<std::uint32_t> group_sizes;  // as in LinkLevel
  Link link;                               // of one flow alone
  double shared_bandwidth = 0;             // of each flow when all GPUs (or ranks) send at once
  bool assumed = false;                    // the bandwidth is the class's, not a given one
};

// Of a processor's own, when none is given; bytes per second and seconds.
inline constexpr Link kMemoryLink{0.3e-6, 10e9};       // ranks of one NUMA node
inline constexpr Link kInterconnectLink{0.6e-6, 8e9};  // ranks of several
inline constexpr Link kNvLinkLane{0.6e-6, 20e9};       // one lane
inline constexpr Link kPcieSwitchLink{1.0e-6, 12e9};   // PIX, PXB: PCIe 3.0, 16 lanes
inline constexpr Link kHostBridgeLink{1.0e-6, 10e9};   // PHB, NODE: peer to peer costs 6/5
inline constexpr Link kSystemLink{1.0e-6, 8e9};        // SYS
inline constexpr Link kNetworkLink{2.7e-6, 12e9};      // 100 Gb/s a node
inline constexpr double kNvLinkEfficiency = 0.8;       // of the rate on paper

// The levels; empty where nothing is joined. `network`: null when it is not known.
std::vector<PlacementLevel> LevelsOf(const std::vector<PlacedPart>& parts, const Network* network);

// The fastest way of the collective over the levels: a ring, whose one flow has each link to
// itself, or one of the others, whose flows share. Nothing for a placement that joins nothing.
std::optional<CollectiveCost> PredictPlaced(const std::vector<PlacementLevel>& levels,
                                            Collective collective, Bytes bytes);

}  // namespace muster::core
