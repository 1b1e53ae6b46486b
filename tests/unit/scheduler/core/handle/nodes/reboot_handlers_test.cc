#include "scheduler/core/handle/nodes/reboot_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::Only;
using testing::Tasks;
using testing::World;

class Reboots : public ::testing::Test {
 protected:
  Reboots() { node_ = Register("first boot"); }

  NodeId Register(const std::string& boot_id, std::vector<KnownAttempt> attempts = {}) {
    Registration registration = World::RegistrationOf("n1", {});
    registration.boot_id = boot_id;
    registration.attempts = std::move(attempts);
    return world_.Take(RegisterAgent{registration}).node;
  }
  Transition Ask(bool drain, bool keep = false) {
    return world_.Take(RebootNode{"n1", "new kernel", drain, keep, false});
  }
  Transition Cancel() { return world_.Take(RebootNode{"n1", "", false, false, true}); }
  const Node& node() const { return *world_.state.FindNode(node_); }
  const NodeHealth& health() const { return world_.state.health().Of(node_); }
  JobId RunJob() {
    const JobId job = world_.Submit(Tasks(1));
    world_.Schedule();
    world_.TellStarted(node_, job, ++told_);
    return job;
  }
  void EndJob(JobId job) { world_.TellEnded(node_, job, ++told_); }

  World world_;
  NodeId node_;
  std::uint64_t told_ = 0;
};

TEST_F(Reboots, AnIdleNodeIsOrderedAtOnceAndTakesJobsOnceItHasAnotherBootId) {
  const Transition asked = Ask(true);
  ASSERT_TRUE(asked.status.ok()) << asked.status;
  EXPECT_EQ(Only<CheckHealth>(asked).size(), 1U);
  EXPECT_EQ(health().kind, HealthKind::kReboot);
  EXPECT_TRUE(node().drained);
  EXPECT_EQ(node().drain_reason, "reboot: new kernel");
  world_.Take(LoseAgent{node_, {}});
  EXPECT_TRUE(Only<CheckHealth>(world_.Take(TickHealth{})).empty());
  Register("second boot");
  EXPECT_FALSE(health().running);
  EXPECT_FALSE(node().drained);
  EXPECT_FALSE(health().wanted) << "once is enough";
  EXPECT_TRUE(Only<CheckHealth>(world_.Take(TickHealth{})).empty());
}

TEST_F(Reboots, AnAgentThatComesBackWithoutARebootIsOrderedAgain) {
  Ask(true);
  world_.Take(LoseAgent{node_, {}});
  Registration registration = World::RegistrationOf("n1", {});
  registration.boot_id = "first boot";
  EXPECT_EQ(Only<CheckHealth>(world_.Take(RegisterAgent{registration})).size(), 1U);
  EXPECT_TRUE(node().drained);
  registration.boot_id = "second boot";
  world_.Take(LoseAgent{node_, {}});
  EXPECT_TRUE(Only<CheckHealth>(world_.Take(RegisterAgent{registration})).empty())
      << "it would be rebooted twice";
}

TEST_F(Reboots, ABusyNodeIsDrainedAndOrderedWhenItsLastJobHasEnded) {
  const JobId job = RunJob();
  EXPECT_TRUE(Only<CheckHealth>(Ask(true)).empty());
  EXPECT_TRUE(node().drained);
  EXPECT_TRUE(Only<CheckHealth>(world_.Take(TickHealth{})).empty());
  EndJob(job);
  EXPECT_EQ(Only<CheckHealth>(world_.Take(TickHealth{})).size(), 1U);
}

TEST_F(Reboots, OneThatWaitsForAnIdleNodeLeavesItInServiceUntilThen) {
  const JobId job = RunJob();
  Ask(false);
  EXPECT_FALSE(node().drained);
  EndJob(job);
  EXPECT_EQ(Only<CheckHealth>(world_.Take(TickHealth{})).size(), 1U);
  EXPECT_TRUE(node().drained) << "nothing may start there from the order on";
  Register("second boot");
  EXPECT_FALSE(node().drained);
}

TEST_F(Reboots, WhoElseDrainedTheNodeKeepsItSo) {
  world_.Take(DrainNode{"n1", true, "bad fan"});
  Ask(true);
  Register("second boot");
  EXPECT_TRUE(node().drained);
  EXPECT_EQ(node().drain_reason, "bad fan");
  world_.Take(DrainNode{"n1", false, ""});
  Ask(true, /*keep=*/true);
  Register("third boot");
  EXPECT_TRUE(node().drained);
}

TEST_F(Reboots, OneThatHasNotBegunCanBeTakenBack) {
  EXPECT_EQ(Cancel().status.code(), absl::StatusCode::kFailedPrecondition);
  const JobId job = RunJob();
  Ask(true);
  EXPECT_TRUE(Cancel().status.ok());
  EXPECT_FALSE(node().drained);
  EndJob(job);
  EXPECT_TRUE(Only<CheckHealth>(world_.Take(TickHealth{})).empty());
  Ask(true);
  EXPECT_THAT(std::string(Cancel().status.message()), HasSubstr("too late"));
}

TEST_F(Reboots, ANodeWhoseAgentCannotTakesJobsAgain) {
  Ask(true);
  HealthReport report;
  report.number = health().number;
  report.outcome = HealthOutcome::kBroken;
  report.text = "no program";
  world_.Take(TakeHealthReport{node_, report});
  EXPECT_FALSE(node().drained);
  EXPECT_FALSE(health().running || health().wanted);
}

TEST_F(Reboots, OneThatNeverComesBackStaysDrained) {
  Ask(true);
  world_.Take(LoseAgent{node_, {}});
  world_.now += std::chrono::hours(2);
  world_.Take(TickHealth{});
  EXPECT_FALSE(health().running);
  EXPECT_TRUE(node().drained);
}

TEST_F(Reboots, WhatCannotBeIsRefused) {
  EXPECT_EQ(world_.Take(RebootNode{"n9", "", true, false, false}).status.code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Ask(false, /*keep=*/true).status.code(), absl::StatusCode::kInvalidArgument);
  Ask(true);
  EXPECT_EQ(Ask(true).status.code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace muster::core
