#pragma once

// Machines and networks of every make: several sockets, NUMA nodes and threads a core, GPUs of
// several models with and without NVLinks and MIG, trees of switches, blocks and NVLink domains.
//
// For simulated lives that are to go everywhere. Thread promise: pure but for the sequence.
// Invariants: the same sequence gives the same machines; CheckMachine takes each.

#include <cstdint>

#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/network.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// With about that many hardware threads, `per_core` of them on each, and up to that many GPUs.
Machine DrawMachine(std::uint32_t threads, std::uint32_t per_core, std::uint32_t gpus,
                    RandomSequence& random);
// Of node1, node2, …, of which it may lack the last.
Network DrawNetwork(std::uint32_t nodes, RandomSequence& random);

}  // namespace muster::sim
