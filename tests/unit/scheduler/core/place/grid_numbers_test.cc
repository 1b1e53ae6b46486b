#include "scheduler/core/place/grid_numbers.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace muster::core {
namespace {

using Sizes = std::vector<std::uint32_t>;

// `ranks` places on nodes of `sockets` with `each` ranks, `nodes` of them to a leaf switch.
std::vector<GridPlace> Places(std::uint32_t ranks, std::uint32_t each, std::uint32_t sockets = 1,
                              std::uint32_t nodes = 1000) {
  std::vector<GridPlace> places;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const std::uint32_t node = i / (each * sockets);
    places.push_back({node / nodes, node, i / each % sockets});
  }
  return places;
}

std::uint64_t CostOf(const Sizes& sizes, const std::vector<GridPlace>& places) {
  return GridCost(sizes, places, NumbersOnGrid(sizes, places));
}

std::uint64_t InBlockOrder(const Sizes& sizes, const std::vector<GridPlace>& places) {
  Sizes block(places.size());
  std::iota(block.begin(), block.end(), 0U);
  return GridCost(sizes, places, block);
}

TEST(GridNumbers, FourNodesHaveAQuarterOfASquareEach) {
  const Sizes numbers = NumbersOnGrid({4, 4}, Places(16, 4));
  EXPECT_EQ(Sizes(numbers.begin(), numbers.begin() + 4), (Sizes{0, 1, 4, 5}));
  EXPECT_EQ(Sizes(numbers.end() - 4, numbers.end()), (Sizes{10, 11, 14, 15}));
  EXPECT_EQ(CostOf({4, 4}, Places(16, 4)), 8U * 8);
  EXPECT_EQ(InBlockOrder({4, 4}, Places(16, 4)), 12U * 8);
}

TEST(GridNumbers, LeafSwitchesArePartedBeforeNodesAndNodesBeforeSockets) {
  const std::vector<GridPlace> places = Places(64, 4, 2, 4);
  const Sizes numbers = NumbersOnGrid({4, 4, 4}, places);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_LT(numbers[i], 32U) << "the first leaf switch has one half of the cube";
  }
  // 16 pairs between the leaves, 16 between nodes of each, and 4 between sockets of a node.
  EXPECT_EQ(GridCost({4, 4, 4}, places, numbers), 16U * 16 + 2 * (8 + 8) * 8 + 8 * 4);
}

TEST(GridNumbers, OnSmallMachinesNoPermutationIsBetter) {
  const std::vector<std::pair<Sizes, std::vector<GridPlace>>> worlds = {
      {{2, 4}, Places(8, 4)},       {{4, 2}, Places(8, 2)},       {{2, 2, 2}, Places(8, 2, 2)},
      {{2, 2, 2}, Places(8, 4)},    {{8}, Places(8, 2, 2)},       {{2, 4}, Places(8, 2, 1, 2)},
      {{4, 2}, Places(8, 1, 2, 2)}, {{3, 2}, Places(6, 2)},       {{2, 3}, Places(6, 3)},
      {{3, 2}, Places(6, 1, 3)},    {{1, 8, 1}, Places(8, 2, 2)}, {{7}, Places(7, 3)}};
  for (const auto& [sizes, places] : worlds) {
    Sizes numbers(places.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::uint64_t least = UINT64_MAX;
    do {
      least = std::min(least, GridCost(sizes, places, numbers));
    } while (std::next_permutation(numbers.begin(), numbers.end()));
    EXPECT_EQ(CostOf(sizes, places), least) << sizes.size() << " dimensions, " << places.size();
  }
}

TEST(GridNumbers, EachIsGivenOnceAndNothingIsWorseThanBlockOrder) {
  const bool holds = rc::check([] {
    const auto dimensions = *rc::gen::inRange<std::size_t>(1, 4);
    Sizes sizes;
    std::uint32_t ranks = 1;
    for (std::size_t i = 0; i < dimensions; ++i) {
      sizes.push_back(*rc::gen::inRange<std::uint32_t>(1, 7));
      ranks *= sizes.back();
    }
    // Nodes of any numbers of ranks.
    std::vector<GridPlace> places;
    GridPlace place;
    while (places.size() < ranks) {
      const auto count = *rc::gen::inRange<std::size_t>(1, 9);
      for (std::size_t i = 0; i < count && places.size() < ranks; ++i) {
        place.socket = i < count / 2 ? 0 : 1;
        places.push_back(place);
      }
      ++place.node;
      place.leaf += *rc::gen::inRange<std::uint32_t>(0, 2);
    }
    Sizes numbers = NumbersOnGrid(sizes, places);
    RC_ASSERT(numbers.front() == 0U);
    RC_ASSERT(GridCost(sizes, places, numbers) <= InBlockOrder(sizes, places));
    std::sort(numbers.begin(), numbers.end());
    for (std::uint32_t i = 0; i < ranks; ++i) {
      RC_ASSERT(numbers[i] == i);
    }
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace muster::core
