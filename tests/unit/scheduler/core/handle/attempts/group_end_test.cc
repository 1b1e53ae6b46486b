#include "scheduler/core/handle/attempts/group_end.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Tasks;
using testing::World;

Report Ended(JobId job, std::uint64_t index) {
  RunEnded end;
  end.cause = EndCause::kExited;
  return Report{job, AttemptNumber(1), index, end};
}

// A run on three nodes.
class ThreeNodes : public ::testing::Test {
 protected:
  ThreeNodes() {
    for (const char* name : {"n1", "n2", "n3"}) {
      nodes_.push_back(world_.AddNode(name));
    }
    ResourceRequest request = Tasks(3);
    request.min_nodes = request.max_nodes = 3;
    JobSpec spec = world_.Spec(request);
    spec.kind = JobKind::kRun;
    job_ = world_.Submit(spec);
    world_.Schedule();
    for (const NodeId node : nodes_) {
      world_.TellStarted(node, job_);
    }
  }

  World world_;
  std::vector<NodeId> nodes_;
  JobId job_;
};

TEST_F(ThreeNodes, EndsOfOneTurnAddUp) {
  TransitionJobs jobs(world_.state);
  Transition transition;
  jobs.TakeFact(job_, nodes_[0], Ended(job_, 2), world_.now, transition);
  EXPECT_EQ(transition.events.size(), 1U) << "nothing follows from one end of three";
  EXPECT_EQ(jobs.Look(job_).attempt->runs[0].phase, RunPhase::kEnded);
  jobs.TakeFact(job_, nodes_[1], Ended(job_, 2), world_.now, transition);
  EXPECT_EQ(transition.events.size(), 2U);
  jobs.TakeFact(job_, nodes_[2], Ended(job_, 2), world_.now, transition);
  ASSERT_EQ(transition.events.size(), 4U);
  ASSERT_TRUE(std::holds_alternative<JobEnded>(transition.events.back()));
  EXPECT_EQ(std::get<JobEnded>(transition.events.back()).state, JobState::kCompleted);
}

TEST_F(ThreeNodes, EndsOfSeveralTurnsAddUp) {
  for (const NodeId node : nodes_) {
    EXPECT_NE(world_.StateOf(job_), JobState::kCompleted);
    world_.TellEnded(node, job_, 2);
  }
  ASSERT_TRUE(world_.EndOf(job_).has_value());
  EXPECT_EQ(world_.EndOf(job_)->state, JobState::kCompleted);
}

TEST(GroupEnd, OnesEndThatEndsAFrozenOtherLeavesNoSuspensionToComplete) {
  World world;
  const NodeId n1 = world.AddNode("n1");
  const NodeId n2 = world.AddNode("n2");
  ResourceRequest both = Tasks(2);
  both.min_nodes = both.max_nodes = 2;
  ResourceRequest one = Tasks(1);
  one.nodelist = {"n2"};
  SubmitJob submit{"token", world.Spec(one), testing::Script()};
  submit.components.push_back(Component{world.Spec(both), testing::TrueProgram()});
  const JobId first = world.Take(submit).job;
  const JobId second(first.value() + 1);
  world.Schedule();
  ASSERT_TRUE(world.state.FindJob(second)->attempt.has_value());
  world.TellStarted(n2, first);
  world.TellStarted(n1, second);
  world.TellStarted(n2, second);
  const Transition suspended =
      world.Take(SuspendJob{first, std::nullopt, true, User{0, 0, "root"}});
  ASSERT_TRUE(suspended.status.ok()) << suspended.status;
  ASSERT_EQ(world.StateOf(second), JobState::kSuspended);
  const std::uint32_t suspension = world.state.FindJob(second)->attempt->suspension;
  world.Tell(n1, second, 2, RunSuspended{world.now, suspension, false});

  Registration again = World::RegistrationOf("n2", testing::Shape());
  again.boot_id += "+";
  world.Take(LoseAgent{n2});
  world.Take(RegisterAgent{again});
  EXPECT_EQ(world.StateOf(second), JobState::kCompleting);
  EXPECT_TRUE(HoldsCores(*world.state.FindJob(second)->attempt));
}

}  // namespace
}  // namespace muster::core
