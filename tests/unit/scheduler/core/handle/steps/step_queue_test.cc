#include "scheduler/core/handle/steps/step_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::Only;
using testing::Tasks;
using testing::World;

// A running job on one node of its own; its world checks the invariants after every transition.
class Allocation4 {
 public:
  World world;
  NodeId node;
  JobId job;

  explicit Allocation4(std::uint32_t cores = 4, JobKind kind = JobKind::kBatch) {
    node = world.AddNode("n1", {.cores = cores});
    JobSpec spec = world.Spec(Tasks(cores));
    spec.kind = kind;
    job = world.Submit(spec);
    world.Schedule();
    world.TellStarted(node, job, ++told_);
  }
  Transition Start(const StepSpec& spec) {
    return world.Take(
        StartStep{absl::StrCat("s", ++tokens_), job, spec, testing::TrueProgram(), world.ada});
  }
  Transition Start(std::uint32_t tasks, bool overlap = false) {
    StepSpec spec;
    spec.tasks = tasks;
    spec.overlap = overlap;
    return Start(spec);
  }
  Transition End(StepId step) {
    StepEnded ended;
    ended.step = step;
    return world.Tell(node, job, ++told_, ended);
  }
  Transition Signal(std::optional<StepId> step, std::uint32_t signal,
                    SignalScope scope = SignalScope::kSteps) {
    return world.Take(SignalJob{job, std::nullopt, step, signal, scope, world.ada});
  }
  const Attempt& attempt() const { return *world.state.FindJob(job)->attempt; }
  std::vector<StepId> Running() const {
    std::vector<StepId> ids;
    for (const StepRun& step : attempt().steps) {
      ids.push_back(step.id);
    }
    return ids;
  }
  std::uint64_t told() const { return told_; }

 private:
  std::uint64_t told_ = 0;
  int tokens_ = 0;
};

TEST(StepQueue, AStepWaitsForThoseBeforeItAndStartsWithTheirEnd) {
  Allocation4 on;
  EXPECT_EQ(on.Start(3).waits, "");
  const Transition waits = on.Start(2);
  ASSERT_TRUE(waits.status.ok());
  EXPECT_EQ(waits.step, StepId(2));
  EXPECT_TRUE(waits.placement.nodes.empty());
  EXPECT_EQ(waits.waits, "3 of its 4 CPUs are in use by step 1.1");
  EXPECT_TRUE(waits.effects.empty());
  const Transition behind = on.Start(1);
  EXPECT_EQ(behind.waits, "step 1.2 is to start before it") << "it would fit, but came later";
  const Transition over = on.End(StepId(1));
  EXPECT_EQ(Only<LaunchStep>(over).size(), 2U);
  EXPECT_EQ(on.Running(), (std::vector<StepId>{StepId(2), StepId(3)}));
  EXPECT_TRUE(on.attempt().queued_steps.empty());
}

TEST(StepQueue, AStepHasTheNameThatWasAskedForElseItsCommands) {
  Allocation4 on;
  StepSpec named;
  named.tasks = 4;
  named.name = "align";
  on.Start(named);
  ASSERT_EQ(on.attempt().steps.size(), 1U);
  EXPECT_EQ(on.attempt().steps[0].name, "align");
  named.name = "sort";
  on.Start(named);
  on.Start(4);
  ASSERT_EQ(on.attempt().queued_steps.size(), 2U);
  EXPECT_EQ(on.attempt().queued_steps[0].name, "sort");
  EXPECT_EQ(on.attempt().queued_steps[1].name, "true");
  on.End(StepId(1));
  EXPECT_EQ(on.attempt().steps[0].name, "sort");
  named.name = "two\nlines";
  EXPECT_THAT(std::string(on.Start(named).status.message()), HasSubstr("--job-name"));
}

TEST(StepQueue, OverlapAndImmediateWaitForNobody) {
  Allocation4 on;
  on.Start(4);
  EXPECT_EQ(on.Start(4, true).placement.nodes.size(), 1U);
  StepSpec now;
  now.tasks = 1;
  now.immediate = true;
  const Transition refused = on.Start(now);
  EXPECT_EQ(refused.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(refused.events.empty());
  EXPECT_THAT(std::string(refused.status.message()), HasSubstr("4 of its 4 CPUs"));
}

TEST(StepQueue, ARetryIsToldAgainWhatBecameOfTheStep) {
  Allocation4 on;
  on.Start(4);
  const StartStep again{"again", on.job, StepSpec(), testing::TrueProgram(), on.world.ada};
  const StepId step = on.world.Take(again).step;
  EXPECT_NE(on.world.Take(again).waits, "");
  EXPECT_EQ(on.world.Take(again).step, step);
  on.End(StepId(1));
  EXPECT_EQ(on.world.Take(again).placement.nodes.size(), 1U);
  on.End(step);
  const Transition gone = on.world.Take(again);
  EXPECT_TRUE(gone.waits.empty() && gone.placement.nodes.empty());
}

TEST(StepQueue, AWithdrawnStepLetsTheNextOneStart) {
  Allocation4 on;
  on.Start(3);
  const StepId first = on.Start(4).step;
  const StepId second = on.Start(1).step;
  EXPECT_FALSE(on.Signal(first, 10).status.ok()) << "it has no process";
  const Transition withdrawn = on.Signal(first, 0);
  ASSERT_TRUE(withdrawn.status.ok()) << withdrawn.status;
  EXPECT_EQ(on.Running(), (std::vector<StepId>{StepId(1), second}));
}

TEST(StepQueue, WhatWaitsGoesWithTheAttempt) {
  Allocation4 on;
  on.Start(4);
  on.Start(1);
  on.world.Take(CancelJob{on.job, std::nullopt, on.world.ada});
  EXPECT_TRUE(Only<LaunchStep>(on.End(StepId(1))).empty()) << "nothing starts in a job that ends";
  on.world.TellEnded(on.node, on.job, on.told() + 1, EndCause::kCancelled);
  EXPECT_TRUE(on.world.EndOf(on.job).has_value());
}

TEST(StepQueue, SignalsGoToWhomTheyAreFor) {
  Allocation4 on;
  EXPECT_FALSE(on.Signal(std::nullopt, 10).status.ok()) << "no step runs";
  EXPECT_FALSE(on.Signal(std::nullopt, 0).status.ok());
  EXPECT_FALSE(on.Signal(std::nullopt, 65, SignalScope::kFull).status.ok());
  EXPECT_FALSE(on.Signal(StepId(1), 10).status.ok());
  on.Start(2);
  const auto sent = [&](const Transition& transition) {
    EXPECT_TRUE(transition.status.ok()) << transition.status;
    EXPECT_TRUE(transition.events.empty());
    const std::vector<PassSignal> effects = Only<PassSignal>(transition);
    return effects.size() == 1 ? effects[0].order : SignalOrder();
  };
  EXPECT_EQ(sent(on.Signal(StepId(1), 10)).step, StepId(1));
  EXPECT_EQ(sent(on.Signal(std::nullopt, 12)).signal, 12U);
  EXPECT_EQ(sent(on.Signal(std::nullopt, 12, SignalScope::kBatch)).scope, SignalScope::kBatch);
  EXPECT_EQ(sent(on.Signal(StepId(), 12)).scope, SignalScope::kBatch);
  SignalJob foreign{on.job, std::nullopt, std::nullopt, 10, SignalScope::kFull, on.world.bob};
  EXPECT_EQ(on.world.Take(foreign).status.code(), absl::StatusCode::kPermissionDenied);
  on.world.Take(LoseAgent{on.node});
  EXPECT_EQ(on.Signal(StepId(1), 10).status.code(), absl::StatusCode::kUnavailable);
}

const StepIo kIo{.address = "unix:/x", .token = "0123456789abcdef0123456789abcdef"};

TEST(StepQueue, OnlyTheJobsUserLooksOnAndAtAStepThatRuns) {
  Allocation4 on;
  const auto attach = [&](std::optional<StepId> step, const User& by) {
    return on.world.Take(AttachStep{on.job, std::nullopt, step, kIo, false, by});
  };
  EXPECT_FALSE(attach(std::nullopt, on.world.ada).status.ok());
  on.Start(2);
  const Transition shown = attach(std::nullopt, on.world.ada);
  ASSERT_TRUE(shown.status.ok()) << shown.status;
  EXPECT_EQ(shown.step, StepId(1));
  EXPECT_EQ(shown.placement.nodes.size(), 1U);
  EXPECT_EQ(Only<ShowStep>(shown).size(), 1U);
  EXPECT_TRUE(shown.events.empty());
  const AttachStep noise{on.job, std::nullopt, std::nullopt, {"unix:/x", "noise"},
                         false,  on.world.ada};
  EXPECT_EQ(on.world.Take(noise).status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(attach(std::nullopt, User{0, 0, "root"}).status.code(),
            absl::StatusCode::kPermissionDenied);
  on.Start(1);
  EXPECT_FALSE(attach(std::nullopt, on.world.ada).status.ok()) << "which of two?";
  EXPECT_TRUE(attach(StepId(2), on.world.ada).status.ok());
}

TEST(StepQueue, ARunsOwnStepIsItsFirst) {
  Allocation4 on(4, JobKind::kRun);
  const Transition shown =
      on.world.Take(AttachStep{on.job, std::nullopt, std::nullopt, kIo, false, on.world.ada});
  EXPECT_EQ(shown.step, StepId(1));
  EXPECT_TRUE(on.Signal(StepId(1), 0).status.ok());
  EXPECT_FALSE(on.Signal(std::nullopt, 10, SignalScope::kBatch).status.ok()) << "it has no script";
}

TEST(StepQueue, AJobThatSaysNoKillGoesOnWithoutANodeAndItsStepsToo) {
  World world;
  const NodeId a = world.AddNode("n1", {.cores = 2});
  const NodeId b = world.AddNode("n2", {.cores = 2});
  JobSpec spec = world.Spec(Tasks(4));
  spec.no_kill = true;
  const JobId job = world.Submit(spec);
  world.Schedule();
  world.TellStarted(a, job);
  world.TellStarted(b, job);
  const auto start = [&](const char* token, std::uint32_t tasks) {
    StepSpec step;
    step.tasks = tasks;
    return world.Take(StartStep{token, job, step, testing::TrueProgram(), world.ada});
  };
  start("all", 4);
  const StepId too_large = start("again all", 4).step;
  start("half", 2);
  world.TellEnded(b, job, 2, EndCause::kNodeRebooted);
  ASSERT_EQ(world.StateOf(job), JobState::kRunning);
  const Attempt* attempt = &*world.state.FindJob(job)->attempt;
  EXPECT_EQ(attempt->steps[0].waiting_for, std::vector<NodeId>{a});
  EXPECT_EQ(attempt->queued_steps.size(), 1U) << "one can never start any more: it is dropped";
  EXPECT_NE(attempt->queued_steps[0].id, too_large);
  StepEnded ended;
  ended.step = StepId(1);
  world.Tell(a, job, 2, ended);
  attempt = &*world.state.FindJob(job)->attempt;
  ASSERT_EQ(attempt->steps.size(), 1U);
  EXPECT_EQ(attempt->steps[0].placement.nodes[0].node, a);
  world.TellEnded(a, job, 3);
  EXPECT_EQ(world.EndOf(job)->state, JobState::kCompleted);
}

TEST(StepQueue, WithoutNoKillANodesFailureEndsTheJob) {
  World world;
  const NodeId a = world.AddNode("n1", {.cores = 2});
  const NodeId b = world.AddNode("n2", {.cores = 2});
  const JobId job = world.Submit(Tasks(4));
  world.Schedule();
  world.TellStarted(a, job);
  world.TellStarted(b, job);
  const Transition transition = world.TellEnded(b, job, 2, EndCause::kNodeRebooted);
  EXPECT_EQ(Only<Terminate>(transition).size(), 1U);
}

// Whatever is started, ended and withdrawn: steps start in the order in which they came, none
// shares a thread that another has to itself (the world's invariants), and in the end all started.
TEST(StepQueue, EveryStepStartsInItsTurn) {
  EXPECT_TRUE(rc::check([] {
    Allocation4 on(*rc::gen::inRange(1U, 9U));
    std::vector<StepId> asked;    // that may wait
    std::vector<StepId> started;  // of those
    const auto note = [&](const Transition& transition) {
      for (const LaunchStep& launch : Only<LaunchStep>(transition)) {
        if (std::find(asked.begin(), asked.end(), launch.step) != asked.end()) {
          started.push_back(launch.step);
        }
      }
    };
    for (int i = *rc::gen::inRange(1, 30); i > 0; --i) {
      const std::vector<StepId> running = on.Running();
      if (*rc::gen::inRange(0, 3) == 0 && !running.empty()) {
        note(on.End(running[*rc::gen::inRange<std::size_t>(0, running.size())]));
        continue;
      }
      StepSpec spec;
      spec.tasks = *rc::gen::inRange(0U, 9U);
      spec.overlap = *rc::gen::inRange(0, 5) == 0;
      const Transition transition = on.Start(spec);
      if (transition.status.ok() && !spec.overlap) {
        asked.push_back(transition.step);
      }
      note(transition);
    }
    while (!on.Running().empty()) {
      note(on.End(on.Running().front()));
    }
    RC_ASSERT(on.attempt().queued_steps.empty());
    RC_ASSERT(started == asked);
  }));
}

}  // namespace
}  // namespace muster::core
