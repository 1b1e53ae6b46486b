#include "cli/run/stream/step_meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

wire::StepHello Hello(std::uint32_t index) {
  wire::StepHello hello;
  hello.set_node_index(index);
  hello.set_node(absl::StrCat("n", index));
  hello.add_exchange(absl::StrCat("192.0.2.", index, ":7"));
  return hello;
}

wire::StepRankExit Exit(std::uint32_t rank, int code) {
  wire::StepRankExit exit;
  exit.set_rank(rank);
  exit.set_code(code);
  return exit;
}

std::vector<std::uint64_t> To(const std::vector<StepReply>& replies) {
  std::vector<std::uint64_t> connections;
  for (const StepReply& reply : replies) {
    connections.push_back(reply.connection);
  }
  return connections;
}

TEST(StepMeetingTest, NodesAreIntroducedOnceAllAreThereAndOneAsked) {
  StepMeeting meeting;
  meeting.Joined(11, 0, Hello(1));
  EXPECT_FALSE(meeting.Asked(11).has_value());
  EXPECT_THAT(meeting.Take(false), IsEmpty());
  meeting.Joined(10, 0, Hello(0));
  const std::vector<StepReply> replies = meeting.Take(true);
  EXPECT_THAT(To(replies), ElementsAre(10, 11));
  ASSERT_THAT(replies[0].frame.peers().peers(), SizeIs(2));
  EXPECT_EQ(replies[0].frame.peers().peers(0).node(), "n0");
  EXPECT_EQ(replies[0].frame.peers().peers(1).exchange(0), "192.0.2.1:7");
  EXPECT_FALSE(meeting.Asked(10).has_value());
  EXPECT_THAT(meeting.Take(true), IsEmpty()) << "once";
}

TEST(StepMeetingTest, AStepWithoutMpiIsToldNothing) {
  StepMeeting meeting;
  meeting.Joined(10, 0, Hello(0));
  meeting.Joined(11, 0, Hello(1));
  wire::StepRankExit exit = Exit(1, 3);
  exit.set_unjoined(true);
  EXPECT_FALSE(meeting.Ended(11, exit));
  meeting.Left(11, true);
  EXPECT_THAT(meeting.Take(true), IsEmpty());
}

TEST(StepMeetingTest, ARankThatFailsTheOthersIsToldToItsComponentOnce) {
  StepMeeting meeting;
  meeting.Joined(10, 0, Hello(0));
  meeting.Joined(11, 0, Hello(1));
  meeting.Joined(20, 1, Hello(0));
  wire::StepRankExit exit = Exit(1, 7);
  exit.set_fatal(true);
  EXPECT_TRUE(meeting.Ended(11, exit));
  const std::vector<StepReply> replies = meeting.Take(true);
  EXPECT_THAT(To(replies), ElementsAre(10, 11));
  EXPECT_EQ(replies[0].frame.broken().exit().code(), 7);
  EXPECT_EQ(replies[0].frame.broken().node(), "n1");
  EXPECT_TRUE(meeting.Ended(10, exit));
  EXPECT_THAT(meeting.Take(true), IsEmpty());
}

TEST(StepMeetingTest, WhereABadExitEndsAllEveryNodeIsToldAndTheLateOneToo) {
  StepMeeting meeting;
  meeting.EndOnBadExit();
  meeting.Joined(10, 0, Hello(0));
  meeting.Joined(11, 1, Hello(0));
  EXPECT_FALSE(meeting.Ended(10, Exit(0, 0)));
  EXPECT_THAT(meeting.Take(false), IsEmpty());
  EXPECT_FALSE(meeting.Ended(10, Exit(1, 3))) << "its own code tells that it failed";
  const std::vector<StepReply> replies = meeting.Take(false);
  EXPECT_THAT(To(replies), ElementsAre(10, 11));
  EXPECT_EQ(replies[1].frame.broken().exit().rank(), 1U);
  meeting.Joined(12, 0, Hello(1));
  const std::vector<StepReply> late = meeting.Take(true);
  ASSERT_THAT(To(late), ElementsAre(12));
  EXPECT_EQ(late[0].frame.broken().exit().code(), 3);
}

TEST(StepMeetingTest, ARankThatEndedWithoutMpiFailsThoseWhoJoinItLater) {
  StepMeeting meeting;
  meeting.Joined(10, 0, Hello(0));
  meeting.Joined(11, 0, Hello(1));
  wire::StepRankExit exit = Exit(1, 0);
  exit.set_unjoined(true);
  EXPECT_FALSE(meeting.Ended(11, exit));
  meeting.Left(11, false);
  EXPECT_EQ(meeting.Asked(10).value().exit().rank(), 1U);
  EXPECT_FALSE(meeting.Asked(10).has_value());
  bool told = false;
  for (const StepReply& reply : meeting.Take(true)) {
    told = told || (reply.connection == 10 && reply.frame.has_broken());
  }
  EXPECT_TRUE(told);
}

TEST(StepMeetingTest, ANodeLostIsToldToTheOthersOfAStepWithMpi) {
  StepMeeting meeting;
  meeting.Joined(10, 0, Hello(0));
  meeting.Joined(11, 0, Hello(1));
  EXPECT_FALSE(meeting.Asked(10).has_value());
  meeting.Take(true);
  meeting.Left(11, true);
  const std::vector<StepReply> replies = meeting.Take(true);
  EXPECT_THAT(To(replies), ElementsAre(10));
  EXPECT_FALSE(replies[0].frame.broken().has_exit());
}

}  // namespace
}  // namespace muster::cli
