// Jobs on nodes whose maintenance begins.
#include "scheduler/core/handle/nodes/maintenance_handlers.h"

#include <gtest/gtest.h>

#include <chrono>

#include "scheduler/base/text/time_text.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::Only;

// Two nodes; n2 is under maintenance from 30 min on for an hour.
class MaintenanceHandlers : public ::testing::Test {
 protected:
  MaintenanceHandlers() {
    world_.config.kill_grace = seconds(30);
    for (const char* name : {"n1", "n2"}) {
      world_.AddNode(name);
    }
  }
  // Runs on that node without a limit, since before the reservation was made.
  JobId Run(const std::string& node, Choice requeue) {
    ResourceRequest request = testing::Tasks(1);
    request.nodelist = {node};
    JobSpec spec = world_.Spec(request);
    spec.requeue = requeue;
    const JobId job = world_.Submit(spec);
    world_.Schedule();
    EXPECT_EQ(world_.StateOf(job), JobState::kConfiguring);
    world_.Tell(world_.state.FindNode(node)->id, job, 1, RunStarted{world_.now, 1, ""});
    EXPECT_EQ(world_.StateOf(job), JobState::kRunning);
    return job;
  }
  void Reserve(const std::string& flags) {
    begin_ = world_.now + minutes(30);
    world_.Add(
        PolicyKind::kReservation, "fans",
        {{"StartTime", MomentText(begin_)}, {"Duration", "60"}, {"Nodes", "n2"}, {"Flags", flags}});
  }
  Transition Tick(Time when) {
    world_.now = when;
    return world_.Take(TickHealth{});
  }
  const Attempt& Its(JobId job) const { return *world_.state.FindJob(job)->attempt; }

  testing::PolicyWorld world_;
  Time begin_ = kNoTime;
};

TEST_F(MaintenanceHandlers, AJobThatMayRunAgainLeavesInTimeAndDoesSo) {
  const JobId job = Run("n2", Choice::kYes);
  const JobId elsewhere = Run("n1", Choice::kYes);
  Reserve("MAINT,IGNORE_JOBS");
  EXPECT_TRUE(Tick(begin_ - seconds(31)).events.empty());
  EXPECT_EQ(Only<Terminate>(Tick(begin_ - seconds(30))).size(), 1U);
  EXPECT_EQ(Its(job).ending, EndCause::kRequeued);
  EXPECT_EQ(Its(job).ending_text, "maintenance (reservation fans)");
  EXPECT_EQ(Its(elsewhere).ending, EndCause::kNone);
  EXPECT_TRUE(Tick(begin_ - seconds(29)).events.empty()) << "once";
  RunEnded ended;
  ended.time = world_.now;
  ended.cause = EndCause::kRequeued;
  world_.Tell(world_.state.FindNode("n2")->id, job, 2, ended);
  EXPECT_EQ(world_.StateOf(job), JobState::kPending);
  world_.Schedule();
  EXPECT_EQ(world_.StateOf(job), JobState::kPending) << "not into the maintenance";
  world_.now = begin_ + minutes(60);
  world_.Schedule();
  EXPECT_EQ(world_.StateOf(job), JobState::kConfiguring);
}

TEST_F(MaintenanceHandlers, AnyOtherJobIsAskedForACheckpointOnceAndRunsOn) {
  const JobId job = Run("n2", Choice::kUnsaid);
  Reserve("MAINT,IGNORE_JOBS");
  EXPECT_EQ(Only<Advise>(Tick(begin_ - seconds(30))).size(), 1U);
  EXPECT_EQ(Its(job).advice.notice, CheckpointNotice::kDrain);
  EXPECT_TRUE(Tick(begin_ - seconds(29)).events.empty());
  EXPECT_EQ(world_.StateOf(job), JobState::kRunning);
}

TEST_F(MaintenanceHandlers, TheEarlierOfTwoCountsWhateverTheirNames) {
  const JobId job = Run("n2", Choice::kYes);
  Reserve("MAINT,IGNORE_JOBS");
  world_.Add(PolicyKind::kReservation, "aaa",
             {{"StartTime", MomentText(begin_ + minutes(20))},
              {"Duration", "60"},
              {"Nodes", "ALL"},
              {"Flags", "MAINT,IGNORE_JOBS"}});
  Tick(begin_ - seconds(30));
  EXPECT_EQ(Its(job).ending, EndCause::kRequeued);
  EXPECT_EQ(Its(job).ending_text, "maintenance (reservation fans)");
}

TEST_F(MaintenanceHandlers, AReservationForUsersEndsNothing) {
  const JobId job = Run("n2", Choice::kYes);
  begin_ = world_.now + minutes(30);
  world_.Add(PolicyKind::kReservation, "exam",
             {{"StartTime", MomentText(begin_)},
              {"Duration", "60"},
              {"Nodes", "n2"},
              {"Users", "ada"},
              {"Flags", "IGNORE_JOBS"}});
  EXPECT_TRUE(Tick(begin_).events.empty());
  EXPECT_EQ(Its(job).ending, EndCause::kNone);
}

TEST_F(MaintenanceHandlers, AJobOfTheMaintenanceItselfStays) {
  Reserve("MAINT");
  world_.Set(PolicyKind::kReservation, "fans", {{"Users", "ada"}});
  ResourceRequest request = testing::Tasks(1);
  JobSpec spec = world_.Spec(request);
  spec.reservation = "fans";
  spec.requeue = Choice::kYes;
  spec.time_limit = minutes(10);
  const JobId job = world_.Submit(spec);
  world_.now = begin_;
  world_.Schedule();
  ASSERT_EQ(world_.StateOf(job), JobState::kConfiguring);
  EXPECT_TRUE(Tick(begin_ + minutes(1)).events.empty());
}

}  // namespace
}  // namespace muster::core
