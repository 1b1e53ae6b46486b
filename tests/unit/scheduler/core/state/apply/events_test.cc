// Events applied to the parts of a state, without the state around them.
#include <gtest/gtest.h>

#include "scheduler/core/state/apply/attempt_events.h"
#include "scheduler/core/state/apply/job_events.h"
#include "scheduler/core/state/apply/node_events.h"
#include "scheduler/core/state/apply/state_parts.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::Cpus;
using testing::Tasks;
using testing::World;

// A node of four cores and a job of two tasks.
class EventsTest : public ::testing::Test {
 protected:
  EventsTest() {
    NodeRegistered node;
    node.node = NodeId(1);
    node.registration = World::RegistrationOf("n1", {});
    node.time = At(1);
    ApplyTo(parts_, node);
    JobSubmitted job;
    job.first = JobId(1);
    job.count = 1;
    job.spec = testing::Normal(Tasks(2));
    job.token = "token";
    job.time = At(2);
    ApplyTo(parts_, job);
  }
  void Start() {
    AttemptStarted event;
    event.job = JobId(1);
    event.attempt = AttemptNumber(1);
    NodeAllocation part;
    part.node = NodeId(1);
    part.cpus = Cpus("0-1");
    event.allocation.nodes.push_back(part);
    event.time = At(3);
    ApplyTo(parts_, event);
  }
  void Tell(std::uint64_t number, Fact fact) {
    RunReported event;
    event.node = NodeId(1);
    event.report = Report{JobId(1), AttemptNumber(1), number, std::move(fact)};
    ApplyTo(parts_, event);
  }
  [[nodiscard]] const Job& Its() const { return *parts_.jobs.Find(JobId(1)); }
  StateParts parts_;
};

TEST_F(EventsTest, ASubmittedJobIsPendingAndKnownByItsToken) {
  EXPECT_EQ(Its().state, JobState::kPending);
  EXPECT_TRUE(parts_.index.pending().contains(JobId(1)));
  EXPECT_EQ(parts_.next_job, JobId(2));
  EXPECT_EQ(parts_.tokens.Find("token")->job, JobId(1));
}

TEST_F(EventsTest, AJobRunsOnceItsNodesSaySoAndHoldsItsPartUntilItHasEnded) {
  Start();
  EXPECT_EQ(Its().state, JobState::kConfiguring);
  EXPECT_TRUE(parts_.index.pending().empty());
  EXPECT_EQ(parts_.nodes.Find(NodeId(1))->taken.cpus, Cpus("0-1"));
  RunStarted started;
  started.time = At(4);
  Tell(1, started);
  EXPECT_EQ(Its().state, JobState::kRunning);
  RunEnded ended;
  ended.time = At(5);
  Tell(2, ended);
  AttemptEnding ending;
  ending.job = JobId(1);
  ending.attempt = AttemptNumber(1);
  ApplyTo(parts_, ending);
  EXPECT_EQ(Its().state, JobState::kCompleting);
  JobEnded end;
  end.job = JobId(1);
  end.state = JobState::kCompleted;
  end.time = At(6);
  ApplyTo(parts_, end);
  EXPECT_EQ(parts_.jobs.Find(JobId(1)), nullptr);
  EXPECT_TRUE(parts_.nodes.Find(NodeId(1))->taken.cpus.Empty());
}

TEST_F(EventsTest, ADrainedNodeKeepsItsReasonUntilItIsBack) {
  NodeDrained drained;
  drained.node = NodeId(1);
  drained.drained = true;
  drained.reason = "disk";
  ApplyTo(parts_, drained);
  EXPECT_EQ(parts_.nodes.Find(NodeId(1))->drain_reason, "disk");
  drained.drained = false;
  ApplyTo(parts_, drained);
  EXPECT_TRUE(parts_.nodes.Find(NodeId(1))->drain_reason.empty());
}

TEST_F(EventsTest, ANewEpochDisconnectsEveryNode) {
  EpochBegan began;
  began.epoch = Epoch(1);
  began.time = At(9);
  ApplyTo(parts_, began);
  EXPECT_EQ(parts_.epoch, Epoch(1));
  EXPECT_FALSE(parts_.nodes.Find(NodeId(1))->connected);
}

}  // namespace
}  // namespace muster::core
