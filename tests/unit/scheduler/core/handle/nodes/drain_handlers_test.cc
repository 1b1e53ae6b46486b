#include "scheduler/core/handle/nodes/drain_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class Drains : public ::testing::Test {
 protected:
  Drains() {
    world_.config.kill_grace = seconds(30);
    world_.AddNode("n1");
  }
  Transition Drain(Time until, Time deadline = kNoTime) {
    return world_.Take(DrainNode{"n1", true, "fans", until, deadline});
  }
  Transition Tick(Time when) {
    world_.now = when;
    return world_.Take(TickHealth{});
  }
  JobId Run(Choice requeue) {
    JobSpec spec = world_.Spec(testing::Tasks(1));
    spec.requeue = requeue;
    const JobId job = world_.Submit(spec);
    world_.Schedule();
    world_.Tell(node().id, job, 1, RunStarted{world_.now, 1, ""});
    EXPECT_EQ(world_.StateOf(job), JobState::kRunning);
    return job;
  }
  const Node& node() const { return *world_.state.FindNode("n1"); }
  const Attempt& Its(JobId job) const { return *world_.state.FindJob(job)->attempt; }
  testing::PolicyWorld world_;
};

TEST_F(Drains, ANodeIsResumedAtItsTimeAndNotBefore) {
  const Time until = world_.now + hours(1);
  ASSERT_TRUE(Drain(until).status.ok());
  Tick(until - seconds(1));
  EXPECT_TRUE(node().drained);
  Tick(until);
  EXPECT_FALSE(node().drained);
  EXPECT_EQ(node().drain_until, kNoTime);
}

TEST_F(Drains, AJobThatMayRunAgainLeavesItsGraceBeforeTheDeadline) {
  const JobId job = Run(Choice::kYes);
  const Time deadline = world_.now + hours(1);
  ASSERT_TRUE(Drain(kNoTime, deadline).status.ok());
  Tick(deadline - seconds(31));
  EXPECT_EQ(Its(job).ending, EndCause::kNone);
  Tick(deadline - seconds(30));
  EXPECT_EQ(Its(job).ending, EndCause::kRequeued);
  EXPECT_THAT(Its(job).ending_text, HasSubstr("drain of node n1 (fans)"));
  EXPECT_TRUE(node().drained) << "without --until somebody resumes it";
}

TEST_F(Drains, AJobThatMayNotRunAgainIsEndedAtTheDeadline) {
  const JobId job = Run(Choice::kNo);
  const Time deadline = world_.now + hours(1);
  ASSERT_TRUE(Drain(kNoTime, deadline).status.ok());
  Tick(deadline - seconds(1));
  EXPECT_EQ(Its(job).ending, EndCause::kNone);
  Tick(deadline);
  EXPECT_EQ(Its(job).ending, EndCause::kCancelled);
  EXPECT_TRUE(Tick(deadline + seconds(1)).events.empty()) << "it is ended once";
}

TEST_F(Drains, ASecondDrainReplacesReasonAndTimes) {
  ASSERT_TRUE(Drain(world_.now + hours(1), world_.now + minutes(5)).status.ok());
  ASSERT_TRUE(Drain(kNoTime).status.ok());
  EXPECT_EQ(node().drain_until, kNoTime);
  EXPECT_EQ(node().drain_deadline, kNoTime);
  EXPECT_TRUE(Drain(kNoTime).events.empty()) << "and the same again says nothing";
}

TEST_F(Drains, TimesThatCannotBeAreRefused) {
  EXPECT_THAT(std::string(Drain(world_.now).status.message()), HasSubstr("--until: that time has"));
  EXPECT_THAT(std::string(Drain(kNoTime, world_.now).status.message()),
              HasSubstr("--deadline: that time has"));
  EXPECT_THAT(std::string(Drain(world_.now + hours(1), world_.now + hours(2)).status.message()),
              HasSubstr("--until: before --deadline"));
  EXPECT_FALSE(world_.Take(DrainNode{"n1", false, "", world_.now + hours(1)}).status.ok());
}

}  // namespace
}  // namespace muster::core
