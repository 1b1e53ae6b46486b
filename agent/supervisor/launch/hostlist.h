#pragma once

// Lists of nodes and counts in the short form that batch scripts know: "node[1-2,7],login",
// "2(x3),1".
//
// Thread promise: pure, safe from any thread. Invariants: every name and every count comes out
// once.

#include <cstdint>
#include <string>
#include <vector>

namespace muster::agent {

// Names that share a prefix and a width of number become ranges, in the order of first appearance
// of each prefix: {"n01","n02","gpu"} is "n[01-02],gpu".
std::string CompressHostlist(const std::vector<std::string>& names);

// Runs of equal numbers: {2,2,1} is "2(x2),1".
std::string CompressCounts(const std::vector<std::uint32_t>& counts);

}  // namespace muster::agent
