#pragma once

// How far a set of nodes reaches over the network.
//
// Invariants: the same network and nodes give the same answer.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/machine/network.h"

namespace muster::core {

// All positions are those of the network, in rising order, each once.
struct NetworkSpan {
  std::uint32_t top = kNowhere;       // the lowest switch above all nodes; kNowhere: none is
  std::vector<std::uint32_t> leaves;  // the switches that the nodes hang on
  std::vector<std::uint32_t> blocks;
  std::vector<std::uint32_t> domains;  // NVLink domains
  bool known = true;                   // false: the network lacks one of the nodes
  std::uint64_t bandwidth = 0;         // MB/s of the narrowest link up to `top`; 0: unknown
};

NetworkSpan SpanOf(const Network& network, const std::vector<std::string>& nodes);

}  // namespace muster::core
