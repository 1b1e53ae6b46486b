#include "scheduler/core/handle/handle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/core/state/actions.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using ::testing::HasSubstr;
using testing::Only;
using testing::Tasks;
using testing::World;

std::string Message(const Transition& transition) {
  return std::string(transition.status.message());
}

JobSpec Array(const World& world, std::uint32_t last, std::uint32_t throttle = 0) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.array = ArraySpec{{{0, last, 1}}, throttle};
  return spec;
}

TEST(Step, EachControllerBeginsTheNextEpochAndNoAgentIsConnectedYet) {
  World world;
  world.AddNode("n1");
  EXPECT_EQ(world.state.epoch(), Epoch(1));
  world.Take(BeginEpoch{});
  EXPECT_EQ(world.state.epoch(), Epoch(2));
  EXPECT_FALSE(world.state.FindNode("n1")->connected);
}

TEST(Step, AfterARestorationNothingIsGivenOutTwiceAndEveryJobIsHeld) {
  World world;
  const NodeId node = world.AddNode("n1");
  const JobId runs = world.Submit(Tasks(1));
  world.Schedule();
  world.TellStarted(node, runs);
  const JobId array = world.Submit(Array(world, 1));
  const JobId kept = world.Submit(Tasks(1));
  const User root{0, 0, "root"};
  world.Take(HoldJob{kept, std::nullopt, true, root});

  EXPECT_TRUE(world.Take(BeginEpoch{.restored = true}).status.ok());
  EXPECT_TRUE(WasRestored(Epoch(1), world.state.epoch()));
  EXPECT_FALSE(WasRestored(world.state.epoch(), world.state.epoch().Next()));
  EXPECT_EQ(world.Submit(Tasks(1)), JobId(kept.Next().value() + kJobsSkipped));
  for (const JobId job : {runs, array, array.Next()}) {
    EXPECT_TRUE(world.state.FindJob(job)->held) << ToString(job);
    EXPECT_EQ(world.state.FindJob(job)->held_by, HoldBy::kRestored) << ToString(job);
  }
  EXPECT_EQ(world.state.FindJob(kept)->held_by, HoldBy::kAdmin) << "that it was held stays known";
  EXPECT_TRUE(world.state.FindNode(node)->drained);
  EXPECT_EQ(world.ReasonFor(array).kind, ReasonKind::kJobHeldAdmin);
  EXPECT_THAT(ToSentence(world.ReasonFor(array)), ::testing::HasSubstr("restored from a copy"));

  EXPECT_EQ(world.Take(HoldJob{array, std::nullopt, false, world.ada}).status.code(),
            absl::StatusCode::kPermissionDenied);
  world.config.operator_uid = world.bob.uid;
  for (const JobId job : {runs, array}) {
    EXPECT_TRUE(world.Take(HoldJob{job, std::nullopt, false, world.bob}).status.ok());
    EXPECT_FALSE(world.state.FindJob(job)->held) << "also of one that runs on";
  }
}

TEST(Step, ASubmissionBecomesAWaitingJobWithTheNextId) {
  World world;
  EXPECT_EQ(world.Submit(Tasks(1)), JobId(1));
  EXPECT_EQ(world.Submit(Tasks(1)), JobId(2));
  EXPECT_EQ(world.StateOf(JobId(2)), JobState::kPending);
  EXPECT_EQ(world.state.FindJob(JobId(2))->submitted, world.now);
}

TEST(Step, ARetryWithTheSameTokenHasOneEffect) {
  World world;
  const SubmitJob submit{"token", world.Spec(Tasks(1)), testing::Script()};
  const Transition first = world.Take(submit);
  const Transition again = world.Take(submit);
  EXPECT_EQ(again.job, first.job);
  EXPECT_TRUE(again.events.empty());
  EXPECT_EQ(world.state.jobs().size(), 1U);
}

TEST(Step, ARetryAfterTheJobEndedStillHasOneEffect) {
  World world;
  const SubmitJob submit{"token", world.Spec(Tasks(1)), testing::Script()};
  const JobId job = world.Take(submit).job;
  world.Take(CancelJob{job, std::nullopt, world.ada});
  EXPECT_EQ(world.Take(submit).job, job);
  EXPECT_TRUE(world.state.jobs().empty());
}

TEST(Step, RefusesASubmissionWithoutATokenOrWithANonsensicalSpecOrProgram) {
  World world;
  EXPECT_THAT(Message(world.Take(SubmitJob{"", world.Spec(Tasks(1)), testing::Script()})),
              HasSubstr("token"));
  EXPECT_FALSE(world.Take(SubmitJob{std::string(65, 't'), world.Spec(Tasks(1)), testing::Script()})
                   .status.ok());
  EXPECT_THAT(Message(world.Take(SubmitJob{"t", world.Spec(Tasks(UINT32_MAX)), testing::Script()})),
              HasSubstr("--ntasks"));
  EXPECT_THAT(Message(world.Take(SubmitJob{"t", world.Spec(Tasks(1)), Program()})),
              HasSubstr("#!"));
  EXPECT_TRUE(world.state.jobs().empty());
  EXPECT_TRUE(world.Take(SubmitJob{"t", world.Spec(Tasks(1)), testing::Script()}).status.ok())
      << "a refused token is not used up";
}

TEST(Step, AnArrayOwnsConsecutiveIdsAndEachElementItsIndex) {
  World world;
  JobSpec spec = world.Spec(Tasks(1));
  spec.array = ArraySpec{{{7, 9, 2}, {1, 1, 1}}, 0};
  const JobId first = world.Submit(spec);
  EXPECT_EQ(world.state.next_job(), JobId(first.value() + 3));
  EXPECT_EQ(world.state.FindJob(JobId(first.value() + 2))->array_index, 1U);
  EXPECT_EQ(world.state.FindJob(JobId(first.value() + 2))->submission, first);
  EXPECT_EQ(world.state.FindJob(first)->spec, world.state.FindJob(JobId(first.value() + 1))->spec)
      << "one spec for all elements";
}

TEST(Step, AWaitingJobIsCancelledAtOnce) {
  World world;
  const JobId job = world.Submit(Tasks(1));
  const Transition transition = world.Take(CancelJob{job, std::nullopt, world.ada});
  EXPECT_EQ(transition.count, 1U);
  EXPECT_EQ(world.EndOf(job)->state, JobState::kCancelled);
  EXPECT_EQ(world.EndOf(job)->text, "cancelled by ada");
  EXPECT_EQ(world.Take(CancelJob{job, std::nullopt, world.ada}).status.code(),
            absl::StatusCode::kNotFound);
}

TEST(Step, ARunningJobIsCancelledThroughItsNodesAndARepeatTellsThemAgain) {
  World world;
  const NodeId node = world.AddNode("n1");
  const JobId job = world.Submit(Tasks(1));
  world.Schedule();
  world.TellStarted(node, job);
  const Transition transition = world.Take(CancelJob{job, std::nullopt, world.ada});
  EXPECT_EQ(world.StateOf(job), JobState::kCompleting);
  EXPECT_EQ(Only<Terminate>(transition),
            (std::vector<Terminate>{{job, AttemptNumber(1), node, EndCause::kCancelled}}));
  const Transition again = world.Take(CancelJob{job, std::nullopt, world.ada});
  EXPECT_TRUE(again.events.empty());
  EXPECT_EQ(Only<Terminate>(again).size(), 1U);
  world.TellEnded(node, job, 2, EndCause::kCancelled, ExitStatus{0, 15});
  EXPECT_EQ(world.EndOf(job)->state, JobState::kCancelled);
  EXPECT_EQ(world.EndOf(job)->text, "cancelled by ada");
}

TEST(Step, CancellingAnArrayReachesTheElementsThatAreLeft) {
  World world;
  world.AddNode("n1", {.cores = 1});
  const JobId array = world.Submit(Array(world, 3));
  const JobId other = world.Submit(Tasks(1));
  world.Schedule();
  world.Take(CancelJob{array, 2, world.ada});
  EXPECT_EQ(world.state.FindJob(JobId(array.value() + 2)), nullptr);
  const Transition transition = world.Take(CancelJob{array, std::nullopt, world.ada});
  EXPECT_EQ(transition.count, 3U);
  EXPECT_EQ(world.StateOf(array), JobState::kCompleting);
  EXPECT_EQ(world.state.FindJob(JobId(array.value() + 1)), nullptr);
  EXPECT_EQ(world.StateOf(other), JobState::kPending);
}

TEST(Step, CancellingAnArrayEndsItsUntouchedElementsInOneEvent) {
  World world;
  const JobId array = world.Submit(Array(world, 999));
  world.Take(HoldJob{array, 500, true, world.ada});
  const Transition transition = world.Take(CancelJob{array, std::nullopt, world.ada});
  EXPECT_EQ(transition.count, 1000U);
  ASSERT_EQ(transition.events.size(), 3U);
  EXPECT_EQ(std::get<JobEnded>(transition.events[0]).more, 499U);
  EXPECT_EQ(std::get<JobEnded>(transition.events[1]).more, 0U);
  EXPECT_EQ(std::get<JobEnded>(transition.events[2]).job, JobId(array.value() + 501));
  EXPECT_TRUE(world.state.jobs().empty());
}

TEST(Step, AnotherUsersArrayIsNotCancelledByHalf) {
  World world;
  const JobId array = world.Submit(Array(world, 99));
  const Transition transition = world.Take(CancelJob{array, std::nullopt, world.bob});
  EXPECT_FALSE(transition.status.ok());
  EXPECT_EQ(world.state.jobs().size(), 100U);
}

TEST(Step, AnElementIsFoundByItsOwnIdEvenWhenTheArraysFirstHasEnded) {
  World world;
  const JobId array = world.Submit(Array(world, 2));
  world.Take(CancelJob{array, 0, world.ada});
  EXPECT_EQ(world.Take(CancelJob{JobId(array.value() + 1), std::nullopt, world.ada}).count, 1U);
  EXPECT_EQ(world.Take(CancelJob{array, std::nullopt, world.ada}).count, 1U);
}

TEST(Step, NobodyButItsOwnerAndRootEndsOrHoldsAJob) {
  World world;
  const JobId job = world.Submit(Tasks(1));
  for (const Transition& transition : {world.Take(CancelJob{job, std::nullopt, world.bob}),
                                       world.Take(HoldJob{job, std::nullopt, true, world.bob})}) {
    EXPECT_EQ(transition.status.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(Message(transition), HasSubstr("belongs to ada"));
  }
  EXPECT_TRUE(world.Take(CancelJob{job, std::nullopt, User{0, 0, "root"}}).status.ok());
}

TEST(Step, AHeldJobWaitsUntilItIsReleased) {
  World world;
  world.AddNode("n1");
  const JobId job = world.Submit(Tasks(1));
  EXPECT_EQ(world.Take(HoldJob{job, std::nullopt, true, world.ada}).count, 1U);
  EXPECT_TRUE(world.Take(HoldJob{job, std::nullopt, true, world.ada}).events.empty());
  world.Schedule();
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kJobHeldUser);
  world.Take(HoldJob{job, std::nullopt, false, world.ada});
  world.Schedule();
  EXPECT_EQ(world.StateOf(job), JobState::kConfiguring);
  EXPECT_EQ(world.Take(HoldJob{job, std::nullopt, true, world.ada}).status.code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(Step, AHeldSubmissionAsksForACycleOnlyWhereTimeOrOthersMayEndIt) {
  World world;
  const auto asks = [&world](const JobSpec& spec) {
    static int count = 0;
    const SubmitJob submit{"token" + std::to_string(++count), spec, testing::Script()};
    return !world.Take(submit).effects.empty();
  };
  JobSpec spec = world.Spec(Tasks(1));
  EXPECT_TRUE(asks(spec));
  spec.held = true;
  EXPECT_FALSE(asks(spec));
  spec.deadline = world.now + std::chrono::hours(1);
  EXPECT_TRUE(asks(spec));
}

TEST(Step, HoldingAnArrayHoldsTheElementsThatWait) {
  World world;
  world.AddNode("n1", {.cores = 1});
  const JobId array = world.Submit(Array(world, 3));
  world.Schedule();
  EXPECT_EQ(world.Take(HoldJob{array, std::nullopt, true, world.ada}).count, 3U);
  EXPECT_FALSE(world.state.FindJob(array)->held);
}

TEST(Step, ADrainedNodeTakesNothingNewAndSaysWhy) {
  World world;
  world.AddNode("n1");
  EXPECT_EQ(world.Take(DrainNode{"n9", true, "x"}).status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(world.Take(DrainNode{"n1", true, ""})), HasSubstr("--reason"));
  EXPECT_FALSE(world.Take(DrainNode{"n1", true, "disk"}).events.empty());
  EXPECT_TRUE(world.Take(DrainNode{"n1", true, "disk"}).events.empty());
  EXPECT_EQ(world.state.FindNode("n1")->drain_reason, "disk");
  const JobId job = world.Submit(Tasks(1));
  world.Schedule();
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kReqNodeNotAvail);
  EXPECT_FALSE(world.Take(DrainNode{"n1", false, "fixed"}).events.empty());
  EXPECT_TRUE(world.Take(DrainNode{"n1", false, "fixed"}).events.empty());
  EXPECT_EQ(world.state.FindNode("n1")->drain_reason, "");
  world.Schedule();
  EXPECT_EQ(world.StateOf(job), JobState::kConfiguring);
}

TEST(Step, APlanStartsAttemptsAndOrdersTheirNodes) {
  World world;
  const NodeId a = world.AddNode("n1", {.cores = 2});
  const NodeId b = world.AddNode("n2", {.cores = 2});
  const JobId job = world.Submit(Tasks(4));
  const Plan plan = world.MakePlanNow();
  const Transition transition = world.Take(TakePlan{plan});
  EXPECT_EQ(Only<Launch>(transition),
            (std::vector<Launch>{{job, AttemptNumber(1), a}, {job, AttemptNumber(1), b}}));
  const Job& live = *world.state.FindJob(job);
  EXPECT_EQ(live.attempt->started, world.now);
  EXPECT_EQ(ActionsFor(live), transition.effects);
  EXPECT_TRUE(world.Take(TakePlan{plan}).events.empty()) << "the same plan twice starts it once";
}

TEST(Step, APlanThatDropsAJobTwiceEndsItOnce) {
  World world;
  JobSpec spec = world.Spec(Tasks(1));
  spec.deadline = world.now + std::chrono::hours(1);
  const JobId job = world.Submit(spec);
  world.now = spec.deadline;
  Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.drops.size(), 1U);
  plan.drops.push_back(plan.drops.front());
  EXPECT_EQ(world.Take(TakePlan{plan}).events.size(), 1U);
  EXPECT_EQ(world.state.FindJob(job), nullptr);
}

TEST(Step, AStepOfTheJobsOwnShapeTakesThePlacesOfItsRanks) {
  World world;
  const NodeId node = world.AddNode("n1");
  const JobId job = world.Submit(Tasks(2));
  world.Schedule();
  world.TellStarted(node, job);
  const StartStep start{"s1", job, StepSpec(), testing::TrueProgram(), world.ada};
  const Transition transition = world.Take(start);
  ASSERT_TRUE(transition.status.ok()) << transition.status;
  EXPECT_EQ(transition.step, StepId(1));
  EXPECT_EQ(Only<LaunchStep>(transition).size(), 1U);
  const Job& live = *world.state.FindJob(job);
  EXPECT_EQ(live.attempt->steps[0].placement, live.attempt->allocation);
  EXPECT_EQ(live.attempt->steps[0].name, "true");
  const Transition again = world.Take(start);
  EXPECT_EQ(again.step, transition.step);
  EXPECT_TRUE(again.events.empty());
}

TEST(Step, AStepEndsWhenAllItsNodesSaySo) {
  World world;
  const NodeId a = world.AddNode("n1", {.cores = 1});
  const NodeId b = world.AddNode("n2", {.cores = 1});
  const JobId job = world.Submit(Tasks(2));
  world.Schedule();
  world.TellStarted(a, job);
  world.TellStarted(b, job);
  world.Take(StartStep{"s1", job, StepSpec(), testing::TrueProgram(), world.ada});
  StepEnded ended;
  ended.step = StepId(1);
  world.Tell(a, job, 2, ended);
  ASSERT_EQ(world.state.FindJob(job)->attempt->steps.size(), 1U);
  EXPECT_EQ(world.state.FindJob(job)->attempt->steps[0].waiting_for, std::vector<NodeId>{b});
  world.Tell(b, job, 2, ended);
  EXPECT_TRUE(world.state.FindJob(job)->attempt->steps.empty());
  EXPECT_EQ(world.StateOf(job), JobState::kRunning);
}

TEST(Step, RefusesAStepThatNobodyMayStartOrThatCannotBe) {
  World world;
  const NodeId node = world.AddNode("n1");
  const JobId job = world.Submit(Tasks(2));
  const Program command = testing::TrueProgram();
  const auto status = [&](StartStep start) { return world.Take(start).status.code(); };
  EXPECT_EQ(status({"a", JobId(9), StepSpec(), command, world.ada}), absl::StatusCode::kNotFound);
  EXPECT_EQ(status({"a", job, StepSpec(), command, world.ada}),
            absl::StatusCode::kFailedPrecondition);
  world.Schedule();
  EXPECT_EQ(status({"", job, StepSpec(), command, world.ada}), absl::StatusCode::kInvalidArgument)
      << "without a token a retry would start it twice";
  EXPECT_EQ(status({"a", job, StepSpec(), command, world.bob}),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(status({"a", job, StepSpec(), Program(), world.ada}),
            absl::StatusCode::kInvalidArgument);
  StepSpec huge;
  huge.tasks = UINT32_MAX;
  huge.overcommit = true;
  EXPECT_EQ(status({"a", job, huge, command, world.ada}), absl::StatusCode::kInvalidArgument);
  world.Take(CancelJob{job, std::nullopt, world.ada});
  EXPECT_EQ(status({"a", job, StepSpec(), command, world.ada}),
            absl::StatusCode::kFailedPrecondition);
  world.TellEnded(node, job, 1, EndCause::kNeverStarted);
}

TEST(Step, TheFirstStepOfARunIsTheRunItself) {
  World world;
  const NodeId node = world.AddNode("n1");
  JobSpec spec = world.Spec(Tasks(2));
  spec.kind = JobKind::kRun;
  const JobId job = world.Submit(spec);
  world.Schedule();
  world.TellStarted(node, job);
  EXPECT_EQ(world.Take(StartStep{"s", job, StepSpec(), testing::TrueProgram(), world.ada}).step,
            StepId(2));
}

TEST(Step, ActionsForNamesAgainExactlyWhatIsUnderWay) {
  World world;
  const NodeId a = world.AddNode("n1", {.cores = 1});
  const NodeId b = world.AddNode("n2", {.cores = 1});
  const JobId job = world.Submit(Tasks(2));
  EXPECT_TRUE(ActionsFor(*world.state.FindJob(job)).empty());
  world.Schedule();
  const auto actions = [&] { return ActionsFor(*world.state.FindJob(job)); };
  world.TellStarted(a, job);
  EXPECT_EQ(actions(), (std::vector<Effect>{Launch{job, AttemptNumber(1), b}}));
  world.TellStarted(b, job);
  EXPECT_TRUE(actions().empty());
  world.Take(StartStep{"s", job, StepSpec(), testing::TrueProgram(), world.ada});
  EXPECT_EQ(actions(), (std::vector<Effect>{LaunchStep{job, AttemptNumber(1), StepId(1), a},
                                            LaunchStep{job, AttemptNumber(1), StepId(1), b}}));
  world.Take(CancelJob{job, std::nullopt, world.ada});
  world.TellEnded(a, job, 2, EndCause::kCancelled);
  EXPECT_EQ(actions(),
            (std::vector<Effect>{Terminate{job, AttemptNumber(1), b, EndCause::kCancelled}}));
}

TEST(Step, KeepsTheNewestTokensOnly) {
  World world;
  ClusterState state;
  state.Apply(EpochBegan{Epoch(1), At(1)});
  JobSpec spec = testing::Normal(Tasks(1));
  for (std::uint64_t i = 1; i <= 65537; ++i) {
    const std::string token = absl::StrCat("t", i);
    state.Apply(JobSubmitted{JobId(i), 1, token, spec, Program(), At(1)});
    state.Apply(JobEnded{JobId(i), JobState::kCancelled, ExitStatus(), "", At(1)});
  }
  EXPECT_EQ(state.FindToken("t1"), nullptr);
  EXPECT_EQ(state.FindToken("t2")->job, JobId(2));
  EXPECT_EQ(state.FindToken("t65537")->job, JobId(65537));
}

}  // namespace
}  // namespace muster::core
