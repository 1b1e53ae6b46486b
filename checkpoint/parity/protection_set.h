#pragma once

// Which ranks hold parity for one another.
//
// Ranks of one failure domain (a node, a chassis) are lost together, so that a set takes at most
// one rank of each domain. Invariants: no rank is in two sets; no set holds two ranks of a domain;
// a set has more members than parities; the same domains give the same sets on every rank.

#include <cstdint>
#include <vector>

namespace muster::checkpoint {

// A record of a file and of a message: what is larger is no set.
inline constexpr std::uint32_t kSetMembersMax = 32;

// Ranks, in the order of their places; those of no set are lost with their node.
using ProtectionSet = std::vector<std::uint32_t>;

// `domains`: of each rank. Sets have `size` members where there are as many domains, and at most
// kSetMembersMax. REQUIRES: parities is at least 1.
std::vector<ProtectionSet> MakeSets(const std::vector<std::uint64_t>& domains, std::uint32_t size,
                                    std::uint32_t parities);

// The set that `rank` is in; an empty one when it is in none.
ProtectionSet SetOf(const std::vector<ProtectionSet>& sets, std::uint32_t rank);

}  // namespace muster::checkpoint
