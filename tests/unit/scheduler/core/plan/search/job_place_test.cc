#include "scheduler/core/plan/search/job_place.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using std::chrono::seconds;
using testing::At;
using testing::MakeNode;
using testing::Tasks;

// Two nodes of four cores, and a job that wants three cores for so long.
class JobPlaceTest : public ::testing::Test {
 protected:
  JobPlaceTest() : request_(testing::Asks(Tasks(3))) {
    snapshot_.now = At(0);
    snapshot_.nodes = {MakeNode(1, {.cores = 4}), MakeNode(2, {.cores = 4})};
    option_.need.request = &request_;
    option_.need.duration = seconds(40);  // a hundred with the margin
    option_.need.shape = 1;
  }
  // A part on each of these nodes.
  JobPlace On(const std::vector<std::uint32_t>& nodes, std::int64_t start) {
    JobPlace place;
    for (const std::uint32_t node : nodes) {
      place.parts.push_back({JobId(1), &option_, Opening{At(start), {NodeShare{node, 3}}}});
    }
    return place;
  }
  bool IsFree(Availability& availability, std::uint32_t node) {
    return availability.Fits(option_.need, Opening{At(0), {NodeShare{node, 3}}});
  }

  Snapshot snapshot_;
  ResourceRequest request_;
  StartOption option_;
};

TEST_F(JobPlaceTest, PartsThatLieOnOneNodeMustFitTogether) {
  Availability availability(snapshot_);
  EXPECT_TRUE(FitsFrom(availability, On({0}, 0), At(0)));
  EXPECT_TRUE(FitsFrom(availability, On({0, 1}, 0), At(0)));
  EXPECT_FALSE(FitsFrom(availability, On({1, 1}, 0), At(0)));
  EXPECT_TRUE(IsFree(availability, 0) && IsFree(availability, 1)) << "a trial leaves nothing taken";
}

TEST_F(JobPlaceTest, WhatIsLentIsTakenAgainUnlessTheAnswerIsYes) {
  Availability availability(snapshot_);
  const JobPlace place = On({0, 1}, 0);
  TakePlace(availability, place);
  ASSERT_FALSE(IsFree(availability, 0));
  for (const bool answer : {false, true}) {
    EXPECT_EQ(LendPlaceIf(availability, place,
                          [&] {
                            EXPECT_TRUE(IsFree(availability, 0) && IsFree(availability, 1));
                            return answer;
                          }),
              answer);
    EXPECT_EQ(IsFree(availability, 0), answer);
    EXPECT_EQ(IsFree(availability, 1), answer);
  }
}

TEST_F(JobPlaceTest, NodesComeBackAsTheyWereNoted) {
  Availability availability(snapshot_);
  NodesBefore before;
  NoteNodes(availability, On({0}, 0), before);
  TakePlace(availability, On({0, 1}, 0));
  availability.Restore(before);
  EXPECT_TRUE(IsFree(availability, 0));
  EXPECT_FALSE(IsFree(availability, 1));
}

TEST_F(JobPlaceTest, ItIsPutOffAsFarAsItsPromiseAllowsAndAllItsNodesAreFree) {
  Availability availability(snapshot_);
  TakePlace(availability, On({1}, 250));  // until 350
  JobPlace alone = On({0}, 0);
  alone.by = At(200);
  PutOff(availability, alone);
  EXPECT_EQ(alone.start(), At(200));
  JobPlace both = On({0, 1}, 0);
  both.by = At(200);
  PutOff(availability, both);
  EXPECT_EQ(both.start(), At(150));
  EXPECT_EQ(both.parts[1].opening.start, At(150));
}

TEST_F(JobPlaceTest, OnlyWhatSharesANodeAndBeginsBeforeItsEndIsInTheWay) {
  const JobPlace aim = On({0}, 10);  // until 110
  EXPECT_TRUE(IsInWayOf(On({1, 0}, 109), aim));
  EXPECT_FALSE(IsInWayOf(On({1}, 20), aim));
  EXPECT_FALSE(IsInWayOf(On({0}, 110), aim));
}

TEST_F(JobPlaceTest, APlaceIsLongerThanTheJobAndAStartWithoutALimitAsLongAsThePlace) {
  EXPECT_EQ(PlaceNeed(option_.need).duration, seconds(100));
  EXPECT_NE(PlaceNeed(option_.need).shape, option_.need.shape);
  EXPECT_EQ(NeedInsteadOfPlace(option_.need, At(0)).duration, seconds(40));
  EXPECT_EQ(On({0}, 0).NeededUntilFrom(At(5)), At(45));
  option_.need.duration = Duration(0);
  EXPECT_EQ(PlaceNeed(option_.need).duration, Duration(0));
  EXPECT_EQ(NeedInsteadOfPlace(option_.need, At(0)).duration, kHorizon - At(0));
  EXPECT_EQ(On({0}, 0).NeededUntilFrom(At(5)), kFarFuture);
}

}  // namespace
}  // namespace muster::core
