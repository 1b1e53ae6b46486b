#include "scheduler/core/plan/availability/image_keepers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kMark = 7;

// Six nodes; the second and the sixth keep the image, the sixth is heavier than the others.
class ImageKeepersTest : public ::testing::Test {
 protected:
  ImageKeepersTest() {
    for (std::uint32_t id = 1; id <= 6; ++id) {
      snapshot_.nodes.push_back(testing::MakeNode(id, {}));
    }
    snapshot_.nodes[1].images = {3, kMark};
    snapshot_.nodes[5].images = {kMark};
    snapshot_.nodes[5].weight = 1;
  }
  std::vector<std::uint32_t> First(std::uint64_t image, std::size_t count,
                                   std::vector<std::uint32_t> fitting) {
    PutKeepersFirst(NodeInventory(snapshot_), image, count, fitting);
    fitting.resize(count);
    return fitting;
  }
  Snapshot snapshot_;
};

TEST_F(ImageKeepersTest, AKeeperTakesThePlaceOfANodeOfItsWeightAlone) {
  EXPECT_THAT(First(kMark, 1, {0, 1, 2, 5}), ElementsAre(1));
  EXPECT_THAT(First(kMark, 2, {0, 1, 2, 5}), ElementsAre(0, 1));
  EXPECT_THAT(First(kMark, 1, {0, 2, 5}), ElementsAre(0));
  snapshot_.nodes[5].weight = 0;
  EXPECT_THAT(First(kMark, 2, {0, 1, 2, 5}), ElementsAre(1, 5));
}

TEST_F(ImageKeepersTest, WithoutTheImageNothingChanges) {
  EXPECT_THAT(First(0, 2, {0, 1, 2}), ElementsAre(0, 1));
  EXPECT_THAT(First(99, 1, {0, 1, 2}), ElementsAre(0));
}

TEST_F(ImageKeepersTest, LighterCandidatesComeFirstAndOfOneWeightThoseThatKeepIt) {
  std::vector<CandidateNode> candidates(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    candidates[i].position = i + 2;  // the last one keeps it
  }
  candidates[0].weight = candidates[3].weight = 1;
  GiveTurns(NodeInventory(snapshot_), 0, candidates);
  EXPECT_EQ(candidates[0].turn, 0U);
  GiveTurns(NodeInventory(snapshot_), kMark, candidates);
  EXPECT_EQ(candidates[1].turn, candidates[2].turn);
  EXPECT_LT(candidates[1].turn, candidates[3].turn);
  EXPECT_LT(candidates[3].turn, candidates[0].turn);
  EXPECT_LT(1000 * candidates[1].turn, candidates[3].turn);
}

}  // namespace
}  // namespace muster::core
