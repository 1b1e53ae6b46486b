#include "daemon/agents/share_book.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace muster::daemon {
namespace {

class ShareBookTest : public ::testing::Test {
 protected:
  // 0: it is to fetch the image.
  std::uint32_t Ask(std::uint32_t node) {
    if (!book_.Knows(image_, now_)) {
      book_.Begin(image_, now_);
    }
    const auto is_there = [this](NodeId id) { return !gone_.contains(id.value()); };
    std::optional<ImageSource> source = book_.SourceFor(image_, NodeId(node), now_, is_there);
    if (!source.has_value() && book_.AddKeepers(image_, keepers_)) {
      source = book_.SourceFor(image_, NodeId(node), now_, is_there);
    }
    keeps_ = source.has_value() && source->keeps;
    return source.has_value() ? source->node.value() : 0;
  }

  ShareBook book_;
  bool keeps_ = false;  // the node that was named last was known to have it
  const SharedImage image_{1000, "sha256:aa"};
  std::vector<NodeId> keepers_;
  std::set<std::uint32_t> gone_;
  ShareBook::SteadyTime now_{};
};

TEST_F(ShareBookTest, TheFirstFetchesAndEachGivesToFour) {
  std::vector<std::uint32_t> from;
  for (std::uint32_t node = 1; node <= 21; ++node) {
    from.push_back(Ask(node));
  }
  EXPECT_EQ(from, (std::vector<std::uint32_t>{0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3,
                                              3, 3, 4, 4, 4, 4, 5, 5, 5, 5}));
}

TEST_F(ShareBookTest, NodesThatKeepItGiveFirst) {
  keepers_ = {NodeId(7), NodeId(8)};
  std::vector<std::uint32_t> from;
  for (std::uint32_t node = 10; node < 20; ++node) {
    from.push_back(Ask(node));
    EXPECT_EQ(keeps_, node < 18);
  }
  EXPECT_EQ(from, (std::vector<std::uint32_t>{7, 8, 7, 8, 7, 8, 7, 8, 10, 10}));
}

TEST_F(ShareBookTest, WhoHasLostItsCopyTakesItFromAnother) {
  keepers_ = {NodeId(7), NodeId(8)};
  EXPECT_EQ(Ask(1), 7U);
  EXPECT_EQ(Ask(7), 8U);
}

TEST_F(ShareBookTest, ANodeThatComesLaterAndKeepsItGives) {
  EXPECT_EQ(Ask(1), 0U);
  keepers_ = {NodeId(7)};
  EXPECT_EQ(Ask(1), 7U);
  EXPECT_TRUE(keeps_);
}

TEST_F(ShareBookTest, WhoAskedLaterAndHasItNowGivesToTheFirst) {
  EXPECT_EQ(Ask(1), 0U);
  EXPECT_EQ(Ask(2), 1U);
  EXPECT_EQ(Ask(3), 1U);
  keepers_ = {NodeId(3)};
  EXPECT_EQ(Ask(1), 3U);
  EXPECT_EQ(Ask(2), 3U);
}

TEST_F(ShareBookTest, AKeeperThatDoesNotHaveItIsNotNamedAgainUntilItAsks) {
  keepers_ = {NodeId(7)};
  EXPECT_EQ(Ask(1), 7U);
  book_.Drop(image_, NodeId(7));
  EXPECT_EQ(Ask(1), 0U);
  EXPECT_EQ(Ask(7), 1U);
  book_.Drop(image_, NodeId(1));
  EXPECT_EQ(Ask(1), 7U);
}

TEST_F(ShareBookTest, ANodeThatIsGoneGivesNothing) {
  EXPECT_EQ(Ask(1), 0U);
  gone_ = {1};
  EXPECT_EQ(Ask(2), 0U);
  EXPECT_EQ(Ask(3), 2U);
}

TEST_F(ShareBookTest, WhoDoesNotHaveItAfterAllIsNotAskedAgain) {
  EXPECT_EQ(Ask(1), 0U);
  EXPECT_EQ(Ask(2), 1U);
  book_.Drop(image_, NodeId(1));
  EXPECT_EQ(Ask(2), 0U);
  EXPECT_EQ(Ask(1), 2U);
}

TEST_F(ShareBookTest, WhatNobodyHasAskedForIsForgotten) {
  EXPECT_EQ(Ask(1), 0U);
  now_ += ShareBook::kForgetAfter + std::chrono::seconds(1);
  EXPECT_EQ(Ask(2), 0U);
}

TEST_F(ShareBookTest, AnothersImageIsAnotherImage) {
  EXPECT_EQ(Ask(1), 0U);
  EXPECT_FALSE(book_.Knows({1001, image_.digest}, now_));
}

TEST_F(ShareBookTest, OfTooManyImagesTheOneThatWasNotAskedForForTheLongestGoes) {
  EXPECT_EQ(Ask(1), 0U);
  for (std::size_t i = 0; i < ShareBook::kImagesMax; ++i) {
    now_ += std::chrono::seconds(1);
    book_.Begin({2000, std::to_string(i)}, now_);
  }
  EXPECT_FALSE(book_.Knows(image_, now_));
  EXPECT_TRUE(book_.Knows({2000, "0"}, now_));
}

// Whoever asks, is gone or does not have it: somebody fetches, and nobody waits in a circle.
RC_GTEST_PROP(ShareBookProperty, NobodyWaitsInACircle, ()) {
  ShareBook book;
  const SharedImage image{1, "sha256:aa"};
  const ShareBook::SteadyTime now{};
  const auto keepers = *rc::gen::inRange(0, 4);
  std::vector<NodeId> first;
  for (int i = 0; i < keepers; ++i) {
    first.emplace_back(100 + i);
  }
  book.Begin(image, now);
  book.AddKeepers(image, first);
  std::map<std::uint32_t, std::uint32_t> from;  // who takes it from whom, as was said last
  for (const int number : *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 30))) {
    const auto node = static_cast<std::uint32_t>(number);
    const auto gone = static_cast<std::uint32_t>(*rc::gen::inRange(0, 30));
    const std::optional<ImageSource> source =
        book.SourceFor(image, NodeId(node), now, [gone](NodeId id) { return id.value() != gone; });
    from[node] = source.has_value() ? source->node.value() : 0;
    std::set<std::uint32_t> seen;
    for (std::uint32_t at = node; at != 0 && at < 100; at = from[at]) {
      RC_ASSERT(seen.insert(at).second);
    }
  }
}

}  // namespace
}  // namespace muster::daemon
