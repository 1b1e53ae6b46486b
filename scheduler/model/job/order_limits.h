#pragma once

// How large what a user submits, and the orders that follow from it, may be.
//
// An order holds a program and the whole attempt's placement. The controller refuses a larger
// program when it is submitted and does not start an attempt with a larger placement, so that every
// order fits into a message that an agent takes. Invariant: a program, a placement and what an
// order says besides fit into kOrderBytesMax together.

#include <cstddef>
#include <cstdint>

namespace muster {

inline constexpr std::size_t kMiB = std::size_t{1} << 20U;
// The largest message that an agent takes or sends.
inline constexpr std::size_t kLinkBytesMax = 16 * kMiB;
// An order, beside the few hundred bytes of its signature.
inline constexpr std::size_t kOrderBytesMax = kLinkBytesMax - std::size_t{64} * 1024;
// Script, arguments, environment and paths together.
inline constexpr std::size_t kProgramBytesMax = 4 * kMiB;
// Arguments, and entries of the environment: at most that many of each.
inline constexpr std::size_t kProgramEntriesMax = 1U << 16U;
// What a job or a step asks for.
inline constexpr std::size_t kRequestBytesMax = kMiB;
// The places of its ranks; of a heterogeneous job, of all components.
inline constexpr std::size_t kPlacementBytesMax = 10 * kMiB;
// So that a node's reports of its ranks fit into a message, too.
inline constexpr std::uint32_t kRanksPerNodeMax = 1U << 16U;

static_assert(kProgramBytesMax + kRequestBytesMax + kPlacementBytesMax < kOrderBytesMax);

}  // namespace muster
