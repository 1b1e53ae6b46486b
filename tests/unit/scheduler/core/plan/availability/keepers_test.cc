#include "scheduler/core/plan/availability/keepers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kMark = 7;

// Six nodes; the second and the sixth keep the image, the sixth is heavier than the others.
class KeepersTest : public ::testing::Test {
 protected:
  KeepersTest() {
    for (std::uint32_t id = 1; id <= 6; ++id) {
      snapshot_.nodes.push_back(testing::MakeNode(id, {}));
    }
    snapshot_.nodes[1].kept = {3, kMark};
    snapshot_.nodes[5].kept = {kMark};
    snapshot_.nodes[5].weight = 1;
  }
  std::vector<std::uint32_t> First(const KeptMarks& marks, std::size_t count,
                                   std::vector<std::uint32_t> fitting) {
    PutKeepersFirst(NodeInventory(snapshot_), marks, count, fitting);
    fitting.resize(count);
    return fitting;
  }
  Snapshot snapshot_;
};

TEST_F(KeepersTest, AKeeperTakesThePlaceOfANodeOfItsWeightAlone) {
  EXPECT_THAT(First({kMark}, 1, {0, 1, 2, 5}), ElementsAre(1));
  EXPECT_THAT(First({kMark}, 2, {0, 1, 2, 5}), ElementsAre(0, 1));
  EXPECT_THAT(First({kMark}, 1, {0, 2, 5}), ElementsAre(0));
  snapshot_.nodes[5].weight = 0;
  EXPECT_THAT(First({kMark}, 2, {0, 1, 2, 5}), ElementsAre(1, 5));
}

TEST_F(KeepersTest, WithoutTheImageNothingChanges) {
  EXPECT_THAT(First({}, 2, {0, 1, 2}), ElementsAre(0, 1));
  EXPECT_THAT(First({99}, 1, {0, 1, 2}), ElementsAre(0));
}

TEST_F(KeepersTest, OfSeveralThingsTheFewerANodeLacksTheBetter) {
  constexpr std::uint64_t kOther = 3;  // that the second keeps, too
  snapshot_.nodes[5].weight = 0;
  snapshot_.nodes[3].kept = {kOther};
  const NodeInventory nodes(snapshot_);
  EXPECT_EQ(Lacks(nodes, {kMark, kOther}, 1), 0U);
  EXPECT_EQ(Lacks(nodes, {kMark, kOther}, 3), 1U);
  EXPECT_EQ(Lacks(nodes, {kMark, kOther}, 0), 2U);
  EXPECT_THAT(KeepersOfAny(nodes, {kMark, kOther}), ElementsAre(1, 3, 5));
  EXPECT_THAT(KeepersOfAny(nodes, {}), ElementsAre());
  EXPECT_THAT(First({kMark, kOther}, 1, {0, 2, 3, 5}), ElementsAre(3));
  EXPECT_THAT(First({kMark, kOther}, 1, {3, 5, 1}), ElementsAre(1));
  EXPECT_THAT(First({kMark, kOther}, 2, {0, 2, 3, 4, 5}), ElementsAre(3, 5));
}

TEST_F(KeepersTest, LighterCandidatesComeFirstAndOfOneWeightThoseThatKeepIt) {
  std::vector<CandidateNode> candidates(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    candidates[i].position = i + 2;  // the last one keeps it
  }
  candidates[0].weight = candidates[3].weight = 1;
  GiveTurns(NodeInventory(snapshot_), {}, candidates);
  EXPECT_EQ(candidates[0].turn, 0U);
  GiveTurns(NodeInventory(snapshot_), {kMark}, candidates);
  EXPECT_EQ(candidates[1].turn, candidates[2].turn);
  EXPECT_LT(candidates[1].turn, candidates[3].turn);
  EXPECT_LT(candidates[3].turn, candidates[0].turn);
  EXPECT_LT(1000 * candidates[1].turn, candidates[3].turn);
}

}  // namespace
}  // namespace muster::core
