#include "scheduler/core/plan/availability/availability.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::MakeNode;
using testing::Tasks;

class AvailabilityTest : public ::testing::Test {
 protected:
  AvailabilityTest() : request_(testing::Asks(Tasks(8))) {
    snapshot_.now = At(0);
    snapshot_.nodes = {MakeNode(1, {}), MakeNode(2, {})};
    need_.request = &request_;
    need_.duration = std::chrono::seconds(10);
    need_.shape = 1;
  }
  Snapshot snapshot_;
  ResourceRequest request_;
  Need need_;
};

TEST_F(AvailabilityTest, WhatIsTakenMakesTheNextOneLater) {
  Availability availability(snapshot_);
  for (const std::int64_t start : {0, 10, 20}) {
    EXPECT_EQ(availability.FindNow(need_).has_value(), start == 0);
    const std::optional<Opening> opening = availability.FindEarliest(need_, At(0));
    ASSERT_TRUE(opening.has_value());
    EXPECT_EQ(opening->start, At(start));
    EXPECT_TRUE(availability.Fits(need_, *opening));
    availability.Take(need_, *opening);
    EXPECT_FALSE(availability.Fits(need_, *opening));
  }
  EXPECT_FALSE(availability.FindEarlier(need_, At(0), At(30)).has_value());
  EXPECT_EQ(availability.FindEarlier(need_, At(0), At(31))->start, At(30));
}

TEST_F(AvailabilityTest, ACycleFindsNothingTakenByTheOneBefore) {
  Availability availability(snapshot_);
  availability.Take(need_, *availability.FindNow(need_));
  EXPECT_FALSE(availability.FindNow(need_).has_value());
  Snapshot later = snapshot_;
  later.now = At(1);
  ASSERT_TRUE(availability.MoveTo(later));
  EXPECT_TRUE(availability.FindNow(need_).has_value());
}

TEST_F(AvailabilityTest, ANodeThatOneQuestionBarsIsOpenToTheNextOfTheSameShape) {
  request_ = testing::Asks(Tasks(4));
  Availability availability(snapshot_);
  const std::vector<bool> first_barred = {true, false};
  Need elsewhere = need_;
  elsewhere.barred = &first_barred;
  const std::optional<Opening> second = availability.FindNow(elsewhere);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->shares.front().node, 1U);
  availability.Take(elsewhere, *second);
  EXPECT_TRUE(availability.FindNow(need_).has_value());
}

TEST_F(AvailabilityTest, ANodeThatIsBarredWhenItChangesIsOpenToTheNextOfTheSameShape) {
  request_ = testing::Asks(Tasks(4));
  const std::vector<bool> first_barred = {true, false};
  snapshot_.nodes[0].taken.cpus = testing::Cpus("0");
  Availability availability(snapshot_);
  EXPECT_EQ(availability.FindNow(need_)->shares.front().node, 1U);
  EXPECT_TRUE(availability.FindEarliest(need_, At(0)).has_value());
  Snapshot later = snapshot_;
  later.nodes[0].taken.cpus = {};
  ASSERT_TRUE(availability.MoveTo(later));
  Need elsewhere = need_;
  elsewhere.barred = &first_barred;
  const std::optional<Opening> second = availability.FindNow(elsewhere);
  ASSERT_TRUE(second.has_value());
  availability.Take(elsewhere, *second);
  EXPECT_TRUE(availability.FindNow(need_).has_value());
  EXPECT_EQ(availability.FindEarliest(need_, At(0))->start, At(0));
}

TEST_F(AvailabilityTest, AJobLargerThanTheNodesNeverFits) {
  request_ = testing::Asks(Tasks(9));
  Availability availability(snapshot_);
  EXPECT_FALSE(availability.EverFits(need_));
  EXPECT_FALSE(availability.FindEarliest(need_, At(0)).has_value());
}

TEST_F(AvailabilityTest, CoresThatAreTakenAloneAreGoneUntilTheyComeBack) {
  Availability availability(snapshot_);
  availability.TakeCores(0, 4, At(0), At(5));
  EXPECT_EQ(availability.FindEarliest(need_, At(0))->start, At(5));
  EXPECT_EQ(availability.CountNow(need_, 4, 5), 1U);
}

}  // namespace
}  // namespace muster::core
