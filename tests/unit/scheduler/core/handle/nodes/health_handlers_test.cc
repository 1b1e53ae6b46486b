#include "scheduler/core/handle/nodes/health_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::Only;
using testing::Tasks;
using testing::World;

constexpr std::uint64_t kGood = 88'000;
constexpr std::uint64_t kSlow = 41'000;

class HealthHandlers : public ::testing::Test {
 protected:
  HealthHandlers() {
    world_.config.health.interval = std::chrono::hours(24);
    world_.config.health.samples = 4;
    for (const char* name : {"n1", "n2", "n3"}) {
      nodes_.push_back(AddNode(name));
    }
  }

  NodeId AddNode(const std::string& name) {
    Registration registration = World::RegistrationOf(name, {});
    registration.hostname = name;
    return world_.Take(RegisterAgent{registration}).node;
  }

  const NodeHealth& Of(NodeId node) { return world_.state.health().Of(node); }
  const Node& At(NodeId node) { return *world_.state.FindNode(node); }

  Transition Report(NodeId node, std::uint64_t bandwidth,
                    HealthOutcome outcome = HealthOutcome::kMeasured) {
    HealthReport report;
    report.number = Of(node).number;
    report.outcome = outcome;
    if (outcome == HealthOutcome::kMeasured) {
      report.figures = {{"memory bandwidth", "GB/s", HealthSense::kHigher, bandwidth, 0}};
    }
    return world_.Take(TakeHealthReport{node, report});
  }

  Transition Check(NodeId node, std::uint64_t bandwidth) {
    const Transition asked = world_.Take(CheckNodeHealth{At(node).name, HealthKind::kQuick, false});
    EXPECT_TRUE(asked.status.ok()) << asked.status;
    return Report(node, bandwidth);
  }

  // So that the class knows what is normal.
  void Learn() {
    for (int i = 0; i < 3; ++i) {
      for (const NodeId node : nodes_) {
        Check(node, kGood + static_cast<std::uint64_t>(i) * 100);
      }
    }
  }

  void Later(Duration time) { world_.now += time; }

  World world_;
  std::vector<NodeId> nodes_;
};

TEST_F(HealthHandlers, ACheckIsOrderedMeasuredAndJudged) {
  const Transition asked = world_.Take(CheckNodeHealth{"n1", HealthKind::kBurnIn, false});
  EXPECT_EQ(asked.count, 1U) << "its number";
  EXPECT_EQ(Only<CheckHealth>(asked).size(), 1U);
  EXPECT_TRUE(Of(nodes_[0]).running);
  EXPECT_EQ(HealthWord(Of(nodes_[0])), "checking");
  EXPECT_TRUE(world_.Take(CheckNodeHealth{"n1", HealthKind::kQuick, false}).events.empty())
      << "one at a time";
  Report(nodes_[0], kGood);
  EXPECT_FALSE(Of(nodes_[0]).running);
  EXPECT_EQ(Of(nodes_[0]).last.kind, HealthKind::kBurnIn);
  EXPECT_EQ(HealthWord(Of(nodes_[0])), "not judged yet");
  Learn();
  EXPECT_EQ(HealthWord(Of(nodes_[0])), "good");
}

TEST_F(HealthHandlers, AReportThatNobodyWaitsForChangesNothing) {
  Check(nodes_[0], kGood);
  EXPECT_TRUE(Report(nodes_[0], kSlow).events.empty());
  EXPECT_FALSE(world_.Take(TakeHealthReport{NodeId(99), {}}).status.ok());
}

TEST_F(HealthHandlers, ABusyNodeIsRefusedOrWaitedFor) {
  const JobId job = world_.Submit(Tasks(12));
  world_.Schedule();
  const Transition refused = world_.Take(CheckNodeHealth{"n1", HealthKind::kQuick, false});
  EXPECT_THAT(refused.status.ToString(), HasSubstr("node n1: 1 job is on it; --wait"));
  EXPECT_TRUE(world_.Take(CheckNodeHealth{"n1", HealthKind::kQuick, true}).status.ok());
  EXPECT_TRUE(Only<CheckHealth>(world_.Take(TickHealth{})).empty());
  for (const NodeId node : nodes_) {
    world_.TellStarted(node, job);
    world_.TellEnded(node, job, 2);
  }
  EXPECT_EQ(Only<CheckHealth>(world_.Take(TickHealth{})).front().node, nodes_[0]);
  EXPECT_EQ(Of(nodes_[0]).cause, HealthCause::kAsked);
}

TEST_F(HealthHandlers, ACheckThatYieldedIsNoVerdictAndIsTriedAgainForWhoWaits) {
  world_.config.health.interval = Duration(0);
  world_.Take(CheckNodeHealth{"n1", HealthKind::kQuick, false});
  Report(nodes_[0], 0, HealthOutcome::kYielded);
  EXPECT_EQ(Of(nodes_[0]).last.number, 0U);
  EXPECT_TRUE(world_.Take(TickHealth{}).events.empty());
  const JobId job = world_.Submit(Tasks(12));
  world_.Schedule();
  world_.Take(CheckNodeHealth{"n1", HealthKind::kQuick, true});
  for (const NodeId node : nodes_) {
    world_.TellStarted(node, job);
    world_.TellEnded(node, job, 2);
  }
  world_.Take(TickHealth{});
  Report(nodes_[0], 0, HealthOutcome::kYielded);
  EXPECT_TRUE(Of(nodes_[0]).wanted);
  EXPECT_EQ(Only<CheckHealth>(world_.Take(TickHealth{})).size(), 1U);
  Report(nodes_[0], kGood);
  EXPECT_FALSE(Of(nodes_[0]).wanted);
}

TEST_F(HealthHandlers, NothingIsCheckedOrDrainedUnlessTheSettingsSay) {
  world_.config.health.interval = Duration(0);
  EXPECT_TRUE(world_.Take(TickHealth{}).events.empty());
  Learn();
  for (int i = 0; i < 5; ++i) {
    Check(nodes_[0], kSlow);
  }
  EXPECT_FALSE(At(nodes_[0]).drained);
  EXPECT_EQ(HealthWord(Of(nodes_[0])), "slow: memory bandwidth");
}

TEST_F(HealthHandlers, ASlowNodeIsLookedAtAgainThenDrainedAndReadmittedWhenItPasses) {
  Learn();
  Check(nodes_[0], kSlow);
  EXPECT_FALSE(At(nodes_[0]).drained) << "once proves nothing";
  world_.Take(TickHealth{});
  EXPECT_FALSE(Of(nodes_[0]).running) << "not at once";
  for (int i = 0; i < 2; ++i) {
    Later(world_.config.health.recheck);
    world_.Take(TickHealth{});
    ASSERT_TRUE(Of(nodes_[0]).running);
    EXPECT_EQ(Of(nodes_[0]).cause, HealthCause::kConfirm);
    Report(nodes_[0], kSlow);
  }
  EXPECT_TRUE(At(nodes_[0]).drained);
  EXPECT_EQ(At(nodes_[0]).drain_reason,
            "health: memory bandwidth 41 GB/s, class median 88.1 GB/s (MAD 0.099), 3 checks in a "
            "row");
  Later(world_.config.health.recheck);
  world_.Take(TickHealth{});
  EXPECT_EQ(Of(nodes_[0]).cause, HealthCause::kReadmission);
  Report(nodes_[0], kSlow);
  EXPECT_TRUE(At(nodes_[0]).drained);
  Later(world_.config.health.recheck);
  world_.Take(TickHealth{});
  Report(nodes_[0], kGood);
  EXPECT_FALSE(At(nodes_[0]).drained);
  EXPECT_EQ(Of(nodes_[0]).slow, 0U);
}

TEST_F(HealthHandlers, AGoodCheckBetweenClearsTheSuspicion) {
  Learn();
  Check(nodes_[0], kSlow);
  Check(nodes_[0], kSlow);
  Check(nodes_[0], kGood);
  Check(nodes_[0], kSlow);
  EXPECT_FALSE(At(nodes_[0]).drained);
  EXPECT_EQ(Of(nodes_[0]).slow, 1U);
}

TEST_F(HealthHandlers, AnOperatorsDrainIsNotTheHealthsToLift) {
  Learn();
  world_.Take(DrainNode{"n1", true, "new fan"});
  Check(nodes_[0], kGood);
  EXPECT_TRUE(At(nodes_[0]).drained);
  for (int i = 0; i < 4; ++i) {
    Check(nodes_[0], kSlow);
  }
  EXPECT_EQ(At(nodes_[0]).drain_reason, "new fan");
}

TEST_F(HealthHandlers, WhoeverTakesADrainOverFromTheHealthKeepsIt) {
  Learn();
  for (int i = 0; i < 3; ++i) {
    Check(nodes_[0], kSlow);
  }
  ASSERT_TRUE(Of(nodes_[0]).drained);
  world_.Take(DrainNode{"n1", true, "sent back"});
  Check(nodes_[0], kGood);
  EXPECT_TRUE(At(nodes_[0]).drained);
}

TEST_F(HealthHandlers, AClassIsNeverDrainedBeyondItsShare) {
  Learn();
  for (const NodeId node : nodes_) {
    for (int i = 0; i < 3; ++i) {
      Check(node, kSlow);
    }
  }
  EXPECT_TRUE(At(nodes_[0]).drained);
  EXPECT_FALSE(At(nodes_[1]).drained) << "one of three is more than a tenth already";
  EXPECT_EQ(HealthWord(Of(nodes_[1])), "slow: memory bandwidth");
}

TEST_F(HealthHandlers, AComponentThatIsGoneIsAsBadAsOneThatIsSlow) {
  Learn();
  for (int i = 0; i < 3; ++i) {
    world_.Take(CheckNodeHealth{"n1", HealthKind::kQuick, false});
    HealthReport report;
    report.number = Of(nodes_[0]).number;
    report.figures = {{"clock", "GHz", HealthSense::kHigher, 3'000, 0}};
    world_.Take(TakeHealthReport{nodes_[0], report});
  }
  EXPECT_THAT(At(nodes_[0]).drain_reason, HasSubstr("memory bandwidth 0 GB/s"));
}

TEST_F(HealthHandlers, ADefectDrainsAtOnce) {
  world_.Take(CheckNodeHealth{"n1", HealthKind::kQuick, false});
  HealthReport report;
  report.number = Of(nodes_[0]).number;
  report.figures = {{"uncorrected memory errors", "", HealthSense::kNever, 1'000, 0}};
  world_.Take(TakeHealthReport{nodes_[0], report});
  EXPECT_EQ(At(nodes_[0]).drain_reason, "health: uncorrected memory errors 1, must be 0");
}

TEST_F(HealthHandlers, ANodeIsCheckedAtBootAndAfterAFailureAndThenOnSchedule) {
  world_.config.health.at_once_percent = 100;
  EXPECT_EQ(Only<CheckHealth>(world_.Take(TickHealth{})).size(), 3U);
  EXPECT_EQ(Of(nodes_[0]).cause, HealthCause::kBoot);
  for (const NodeId node : nodes_) {
    Report(node, kGood);
  }
  Learn();
  Later(world_.config.health.recheck);
  EXPECT_TRUE(Only<CheckHealth>(world_.Take(TickHealth{})).empty());
  const JobId job = world_.Submit(Tasks(12));
  world_.Schedule();
  world_.TellStarted(nodes_[0], job);
  world_.TellEnded(nodes_[0], job, 2, EndCause::kLostSupervisor);
  for (const NodeId node : {nodes_[1], nodes_[2]}) {
    world_.TellStarted(node, job);
    world_.TellEnded(node, job, 2, EndCause::kJobEnding);
  }
  Later(world_.config.health.recheck);
  ASSERT_EQ(Only<CheckHealth>(world_.Take(TickHealth{})).size(), 1U);
  EXPECT_EQ(Of(nodes_[0]).cause, HealthCause::kFailure);
  Report(nodes_[0], kGood);
  Later(std::chrono::hours(24));
  EXPECT_EQ(Only<CheckHealth>(world_.Take(TickHealth{})).size(), 3U);
  EXPECT_EQ(Of(nodes_[1]).cause, HealthCause::kSchedule);
}

TEST_F(HealthHandlers, TwoNodesOfOneHostAreNotCheckedTogether) {
  World world;
  world.config.health.interval = std::chrono::hours(1);
  world.config.health.at_once_percent = 100;
  for (const char* name : {"a", "b"}) {
    Registration registration = World::RegistrationOf(name, {});
    registration.hostname = "one";
    world.Take(RegisterAgent{registration});
  }
  EXPECT_EQ(Only<CheckHealth>(world.Take(TickHealth{})).size(), 1U);
}

TEST_F(HealthHandlers, ANodeThatFailsJobsTooOftenIsDrained) {
  for (int i = 0; i < 8; ++i) {
    JobSpec spec = world_.Spec(Tasks(4));
    const JobId job = world_.Submit(spec);
    world_.Schedule();
    const std::vector<JobId> here = world_.state.JobsOn(nodes_[0]);
    if (here.empty()) {
      break;
    }
    world_.TellStarted(nodes_[0], job);
    RunEnded ended;
    ended.time = world_.now;
    ended.cause = EndCause::kLostSupervisor;
    world_.Tell(nodes_[0], job, 2, ended);
    Later(std::chrono::hours(1));
  }
  world_.Take(TickHealth{});
  EXPECT_TRUE(At(nodes_[0]).drained);
  EXPECT_THAT(At(nodes_[0]).drain_reason, HasSubstr("health: fails jobs: 8 node failures"));
}

TEST_F(HealthHandlers, ACheckThatIsNeverAnsweredIsGivenUp) {
  world_.Take(CheckNodeHealth{"n1", HealthKind::kQuick, false});
  Later(std::chrono::minutes(11));
  world_.Take(TickHealth{});
  EXPECT_FALSE(Of(nodes_[0]).running);
}

TEST_F(HealthHandlers, AnAgentThatComesBackIsToldOfItsCheckAgain) {
  world_.Take(CheckNodeHealth{"n1", HealthKind::kQuick, false});
  world_.Take(LoseAgent{nodes_[0]});
  Registration registration = World::RegistrationOf("n1", {});
  registration.hostname = "n1";
  EXPECT_EQ(Only<CheckHealth>(world_.Take(RegisterAgent{registration})).size(), 1U);
}

}  // namespace
}  // namespace muster::core
