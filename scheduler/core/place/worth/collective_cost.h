#pragma once

// How long a collective takes: the alpha-beta model, per class of links.
//
// A message of m bytes over a link takes alpha + m / bandwidth (R. W. Hockney, The communication
// challenge for MPP, Parallel Computing 20(3), 1994). Ranks are grouped level by level: GPUs of a
// node, nodes of a switch, switches. Each level has its link. Predictions are for people and for
// comparisons of placements of one job; what they leave out is contention with other jobs.
// Invariants: (1) the algorithm named is the fastest of those described here, the first listed
// winning a tie; (2) more bytes or less bandwidth are never faster.

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/units.h"

namespace muster::core {

struct Link {
  double alpha_s = 0;           // latency of a message, seconds
  double bytes_per_second = 0;  // of one rank, in each direction at once
  static constexpr auto Fields(auto list) {
    return list(Field{"alpha_s", &Link::alpha_s},
                Field{"bytes_per_second", &Link::bytes_per_second});
  }
  friend bool operator==(const Link&, const Link&) = default;
};

// Groups joined by one class of links: how many members each has. Members are ranks on the first
// level, and the groups of the level below on every other.
struct LinkLevel {
  std::vector<std::uint32_t> group_sizes;
  Link link;
  static constexpr auto Fields(auto list) {
    return list(Field{"group_sizes", &LinkLevel::group_sizes}, Field{"link", &LinkLevel::link});
  }
  friend bool operator==(const LinkLevel&, const LinkLevel&) = default;
};

// Levels from the innermost out; the last has one group, of everything. For 8 GPUs on each of 4
// nodes: {{8, 8, 8, 8}, NVLink}, {{4}, network}.
using LinkLevels = std::vector<LinkLevel>;

enum class Collective : std::uint8_t { kAllReduce, kAllGather, kReduceScatter };

enum class CollectiveAlgorithm : std::uint8_t {
  kNone,               // one rank: nothing to send
  kRing,               // over all ranks, at the pace of the slowest link
  kHierarchical,       // level by level: rings inside, then across with the part that is left
  kRecursiveDoubling,  // few messages: for short ones (all-reduce only)
};

// "ring", "hierarchical", …
const char* ToText(CollectiveAlgorithm algorithm);

struct CollectiveCost {
  double seconds = 0;
  double bytes_per_rank = 0;  // what each rank sends, over all links
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kNone;
  static constexpr auto Fields(auto list) {
    return list(Field{"seconds", &CollectiveCost::seconds},
                Field{"bytes_per_rank", &CollectiveCost::bytes_per_rank},
                Field{"algorithm", &CollectiveCost::algorithm});
  }
  friend bool operator==(const CollectiveCost&, const CollectiveCost&) = default;
};

// What a ring over n ranks sends from each: 2 (n - 1)/n of the bytes for an all-reduce (P.
// Patarasuk and X. Yuan, Bandwidth optimal all-reduce algorithms, JPDC 69(2), 2009), half of it for
// the two of which it consists. `bytes` is the whole buffer: what each rank reduces, or holds
// gathered.
double RingBytesPerRank(Collective collective, Bytes bytes, std::uint64_t ranks);

// The ranks that `levels` join; 0 when they contradict one another: a level without groups, an
// empty group, groups that do not add up to the level below, a bandwidth that is not positive, a
// latency that is negative, or more than one group at the top.
std::uint64_t RanksOf(const LinkLevels& levels);

// Each algorithm by itself; nothing when `levels` are not valid, or the algorithm does not know the
// collective.
//   ring: k (n-1) alpha + k (n-1)/n bytes/bandwidth, with the worst alpha and bandwidth of the
//     levels that join anything; k is 2 for an all-reduce, else 1.
//   hierarchical: the ring's time of each level, on the part of the bytes that the levels below
//     have left to each member (R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective
//     communication operations in MPICH, IJHPCA 19(1), 2005, section 5; the two-level scheme of
//     NCCL and Horovod). Of groups of different sizes the largest sets the pace, the smallest the
//     part left.
//   recursive doubling: log2(n) steps of all the bytes, two more when n is no power of two (Thakur
//     et al., section 4.1).
std::optional<CollectiveCost> CostOf(CollectiveAlgorithm algorithm, Collective collective,
                                     Bytes bytes, const LinkLevels& levels);

// The fastest of them; nothing when `levels` are not valid.
std::optional<CollectiveCost> PredictCollective(Collective collective, Bytes bytes,
                                                const LinkLevels& levels);

// One message: alpha + bytes/bandwidth. Between pipeline neighbours, for instance.
double PointToPointSeconds(Bytes bytes, const Link& link);

}  // namespace muster::core
