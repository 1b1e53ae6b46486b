#pragma once

// What a job's layout (--grid, --parallel) is worth on a captured machine, beside the same places
// numbered in block order and, where there are few, beside every numbering of them.
//
// A cost is a row of numbers that are compared from the first on; less is better. Of a grid: what
// neighbours have between them (GridCost). Of groups, kind by kind (tp, cp, replicas that belong
// together, pp): how far apart neighbours in the groups are, over nodes and leaf switches; then of
// each group the worst of the links between its GPUs on one node, the worst group first, since all
// wait for it. Pure; used by locality_bench and by a test.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/rank_layout.h"
#include "scheduler/model/machine/machine.h"

namespace muster::bench {

using LayoutCost = std::vector<std::uint64_t>;

struct JudgedLayout {
  LayoutCost ours;
  LayoutCost block;
  std::optional<LayoutCost> best;  // of all numberings; nothing: not asked for, or too many
};
enum class Numberings : std::uint8_t { kOursAndBlock, kAll };

struct JudgedRequest {
  std::string name;  // "--grid=4x2x2"
  RankLayout layout;
  std::uint32_t ranks = 0;
};

inline constexpr std::size_t kPermutedMost = 8;  // ranks

// As the planner places it on that many such nodes, two to a leaf switch: a GPU a rank for groups
// where there are any, otherwise one core a rank. Nothing where it does not fit.
std::optional<JudgedLayout> JudgeLayout(const std::shared_ptr<const Machine>& machine,
                                        std::uint32_t nodes, const JudgedRequest& request,
                                        Numberings numberings);

// Grids and groups of that many ranks, of those that it has.
std::vector<JudgedRequest> LayoutsOf(std::uint32_t ranks);

}  // namespace muster::bench
