#pragma once

// Many names or numbers in one short text: "node[1-3,7],login", "3-99,120".
//
// Pure. Thread promise: safe from any thread. Invariants: expanding a host list as Slurm's tools do
// gives the same set of names, zeros in front included.

#include <cstdint>
#include <string>
#include <vector>

namespace muster::cli {

// Numbers as runs, ascending: "1,3-5". `digits` pads each with zeros.
std::string NumberList(std::vector<std::uint64_t> numbers, int digits = 0);

// Node names, those that differ only in their last number together, in order of first appearance.
std::string Hostlist(const std::vector<std::string>& names);

}  // namespace muster::cli
