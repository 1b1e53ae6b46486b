#include "scheduler/core/plan/availability/free_index.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::core {
namespace {

std::vector<std::uint32_t> NodesWith(const FreeIndex& index, std::uint32_t gpus,
                                     std::uint32_t cores, std::size_t most = 100) {
  std::vector<std::uint32_t> nodes;
  index.VisitWith(gpus, cores, [&](std::uint32_t node) {
    nodes.push_back(node);
    return nodes.size() < most;
  });
  return nodes;
}

TEST(FreeIndex, TheLightestComeFirstAndOfThoseTheTightest) {
  FreeIndex index;
  index.Add(5, {0, 0, 8});
  index.Add(1, {1, 0, 2});
  index.Add(3, {0, 0, 2});
  index.Add(2, {0, 0, 2});
  index.Add(4, {0, 1, 1});
  EXPECT_EQ(NodesWith(index, 0, 0), (std::vector<std::uint32_t>{2, 3, 5, 4, 1}));
  EXPECT_EQ(NodesWith(index, 0, 3), (std::vector<std::uint32_t>{5}));
  EXPECT_EQ(NodesWith(index, 1, 0), (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(NodesWith(index, 0, 0, 2), (std::vector<std::uint32_t>{2, 3}));
}

TEST(FreeIndex, ANodeThatMovesIsFoundUnderItsNewKeyAlone) {
  FreeIndex index;
  index.Add(1, {0, 0, 8});
  index.Move(1, {0, 0, 8}, {0, 0, 3});
  EXPECT_TRUE(NodesWith(index, 0, 4).empty());
  EXPECT_EQ(NodesWith(index, 0, 3), (std::vector<std::uint32_t>{1}));
}

}  // namespace
}  // namespace muster::core
