#pragma once

// What it takes to survive the loss of nodes that hold checkpoints: space, and how many may go.
//
// The schemes are those of SCR (A. Moody, G. Bronevetsky, K. Mohror, B. R. de Supinski, SC 2010):
// sets of N nodes, each holding a checkpoint of B bytes. Thread promise: pure functions.
// Invariants: a set that cannot be is refused with kImpossible, never rounded into one that can.

#include <cstdint>

namespace muster::checkpoint {

enum class Redundancy {
  kSingle,       // nothing beside the checkpoint: no loss survived
  kPartner,      // a whole copy on a neighbour: any loss but that of both
  kXor,          // parity over the set: one loss in each set
  kReedSolomon,  // k parities over the set: k losses in each set
};

inline constexpr double kImpossible = -1;

// Further bytes on each node for each byte of checkpoint: 0, 1, 1/(N-1), k/(N-k). kImpossible when
// the set is too small: N < 2, or k < 1 or k >= N. `parities` counts with kReedSolomon only.
double ExtraSpace(Redundancy scheme, std::uint32_t nodes, std::uint32_t parities);

// How many nodes of one set may be lost, whichever they are; 0 for an impossible set.
std::uint32_t LossesSurvived(Redundancy scheme, std::uint32_t nodes, std::uint32_t parities);

}  // namespace muster::checkpoint
