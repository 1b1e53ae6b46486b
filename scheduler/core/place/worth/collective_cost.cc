#include "scheduler/core/place/worth/collective_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace muster::core {
namespace {

double Real(Bytes bytes) {
  return static_cast<double>(bytes.value());
}

double PassesOf(Collective collective) {
  return collective == Collective::kAllReduce ? 2 : 1;
}

bool IsLink(const Link& link) {
  return link.alpha_s >= 0 && std::isfinite(link.alpha_s) && link.bytes_per_second > 0 &&
         std::isfinite(link.bytes_per_second);
}

std::uint64_t MembersOf(const LinkLevel& level) {
  return std::accumulate(level.group_sizes.begin(), level.group_sizes.end(), std::uint64_t{0});
}

std::uint32_t Largest(const LinkLevel& level) {
  return *std::max_element(level.group_sizes.begin(), level.group_sizes.end());
}

std::uint32_t Smallest(const LinkLevel& level) {
  return *std::min_element(level.group_sizes.begin(), level.group_sizes.end());
}

// A ring over `ranks`, at the pace of one link.
double RingSeconds(Collective collective, double bytes, double ranks, const Link& link) {
  const double steps = PassesOf(collective) * (ranks - 1);
  return steps * link.alpha_s + steps / ranks * bytes / link.bytes_per_second;
}

// The worst of every link that joins anything.
Link SlowestLink(const LinkLevels& levels) {
  Link slowest{0, std::numeric_limits<double>::infinity()};
  for (const LinkLevel& level : levels) {
    if (Largest(level) > 1) {
      slowest.alpha_s = std::max(slowest.alpha_s, level.link.alpha_s);
      slowest.bytes_per_second = std::min(slowest.bytes_per_second, level.link.bytes_per_second);
    }
  }
  return slowest;
}

CollectiveCost Ring(Collective collective, Bytes bytes, const LinkLevels& levels,
                    std::uint64_t ranks) {
  return {RingSeconds(collective, Real(bytes), static_cast<double>(ranks), SlowestLink(levels)),
          RingBytesPerRank(collective, bytes, ranks), CollectiveAlgorithm::kRing};
}

CollectiveCost Hierarchical(Collective collective, Bytes bytes, const LinkLevels& levels) {
  CollectiveCost cost{0, 0, CollectiveAlgorithm::kHierarchical};
  double part = Real(bytes);
  for (const LinkLevel& level : levels) {
    const double members = Largest(level);
    if (members > 1) {
      cost.seconds += RingSeconds(collective, part, members, level.link);
      cost.bytes_per_rank += PassesOf(collective) * (members - 1) / members * part;
    }
    part /= Smallest(level);
  }
  return cost;
}

CollectiveCost RecursiveDoubling(Bytes bytes, const LinkLevels& levels, std::uint64_t ranks) {
  int steps = 0;
  std::uint64_t power = 1;
  while (power * 2 <= ranks) {
    power *= 2;
    ++steps;
  }
  steps += power == ranks ? 0 : 2;
  const Link link = SlowestLink(levels);
  return {steps * PointToPointSeconds(bytes, link), steps * Real(bytes),
          CollectiveAlgorithm::kRecursiveDoubling};
}

}  // namespace

const char* ToText(CollectiveAlgorithm algorithm) {
  switch (algorithm) {
    case CollectiveAlgorithm::kNone:
      return "none";
    case CollectiveAlgorithm::kRing:
      return "ring";
    case CollectiveAlgorithm::kHierarchical:
      return "hierarchical";
    case CollectiveAlgorithm::kRecursiveDoubling:
      return "recursive doubling";
  }
  return "unknown";
}

double RingBytesPerRank(Collective collective, Bytes bytes, std::uint64_t ranks) {
  if (ranks <= 1) {
    return 0;
  }
  const double n = static_cast<double>(ranks);
  return PassesOf(collective) * (n - 1) / n * Real(bytes);
}

std::uint64_t RanksOf(const LinkLevels& levels) {
  if (levels.empty() || levels.back().group_sizes.size() != 1) {
    return 0;
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::vector<std::uint32_t>& sizes = levels[i].group_sizes;
    if (!IsLink(levels[i].link) || sizes.empty() || Smallest(levels[i]) == 0) {
      return 0;
    }
    if (i > 0 && MembersOf(levels[i]) != levels[i - 1].group_sizes.size()) {
      return 0;
    }
  }
  return MembersOf(levels.front());
}

std::optional<CollectiveCost> CostOf(CollectiveAlgorithm algorithm, Collective collective,
                                     Bytes bytes, const LinkLevels& levels) {
  const std::uint64_t ranks = RanksOf(levels);
  if (ranks == 0) {
    return std::nullopt;
  }
  if (ranks == 1) {
    return CollectiveCost{};
  }
  switch (algorithm) {
    case CollectiveAlgorithm::kNone:
      return std::nullopt;
    case CollectiveAlgorithm::kRing:
      return Ring(collective, bytes, levels, ranks);
    case CollectiveAlgorithm::kHierarchical:
      return Hierarchical(collective, bytes, levels);
    case CollectiveAlgorithm::kRecursiveDoubling:
      return collective == Collective::kAllReduce
                 ? std::optional(RecursiveDoubling(bytes, levels, ranks))
                 : std::nullopt;
  }
  return std::nullopt;
}

std::optional<CollectiveCost> PredictCollective(Collective collective, Bytes bytes,
                                                const LinkLevels& levels) {
  std::optional<CollectiveCost> best;
  for (const CollectiveAlgorithm algorithm :
       {CollectiveAlgorithm::kRing, CollectiveAlgorithm::kHierarchical,
        CollectiveAlgorithm::kRecursiveDoubling}) {
    const std::optional<CollectiveCost> cost = CostOf(algorithm, collective, bytes, levels);
    if (cost && (!best || cost->seconds < best->seconds)) {
      best = cost;
    }
  }
  return best;
}

double PointToPointSeconds(Bytes bytes, const Link& link) {
  return link.alpha_s + Real(bytes) / link.bytes_per_second;
}

}  // namespace muster::core
