// Heterogeneous jobs: components that start together, end together and are refused together.
#include "scheduler/core/state/job_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "scheduler/core/handle/verify.h"
#include "tests/unit/scheduler/core/builders.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using testing::TrueProgram;
using ::testing::HasSubstr;
using testing::Only;
using testing::Script;
using testing::Tasks;

class Groups : public ::testing::Test {
 protected:
  Transition Send(std::vector<JobSpec> specs, const std::string& token = "token") {
    const bool run = specs.front().kind == JobKind::kRun;
    SubmitJob submit{token, specs.front(), run ? TrueProgram() : Script()};
    for (std::size_t i = 1; i < specs.size(); ++i) {
      submit.components.push_back(Component{specs[i], run ? TrueProgram() : Program()});
    }
    return world.Take(submit);
  }
  JobId Submit(std::vector<JobSpec> specs) {
    const Transition transition = Send(std::move(specs), absl::StrCat("group", ++tokens));
    EXPECT_TRUE(transition.status.ok()) << transition.status;
    return transition.job;
  }
  JobId Submit(std::vector<ResourceRequest> requests) {
    std::vector<JobSpec> specs;
    for (ResourceRequest& request : requests) {
      specs.push_back(world.Spec(std::move(request)));
    }
    return Submit(std::move(specs));
  }
  JobSpec Timed(ResourceRequest request, int minutes) {
    JobSpec spec = world.Spec(std::move(request));
    spec.time_limit = std::chrono::minutes(minutes);
    return spec;
  }
  void Schedule() {
    world.Schedule();
    const std::optional<std::string> broken = BrokenGroup(world.state);
    EXPECT_EQ(broken, std::nullopt) << *broken;
  }
  [[nodiscard]] bool Runs(JobId job) const { return world.state.FindJob(job)->attempt.has_value(); }
  void ExpectStarted(JobId first, std::uint32_t size) {
    for (std::uint32_t i = 0; i < size; ++i) {
      const JobId job(first.value() + i);
      for (const NodeAllocation& part : world.state.FindJob(job)->attempt->allocation.nodes) {
        world.TellStarted(part.node, job);
      }
    }
  }

  testing::PolicyWorld world;
  int tokens = 0;
};

ResourceRequest WithGpu(std::uint32_t tasks) {
  ResourceRequest request = Tasks(tasks);
  request.gpus_per_task.count = 1;
  return request;
}

TEST_F(Groups, GetIdsOneAfterTheOtherFromOneEventAndAreNamedByTheLeader) {
  const JobId job = Submit({Tasks(2), Tasks(1), Tasks(3)});
  EXPECT_EQ(job, JobId(1));
  EXPECT_EQ(world.state.next_job(), JobId(4));
  EXPECT_EQ(world.state.FindJobs(job, std::nullopt).size(), 3U);
  const Job& last = *world.state.FindJob(JobId(3));
  EXPECT_EQ(last.submission, job);
  EXPECT_EQ(last.het_size, 3U);
  EXPECT_EQ(OffsetOf(last), 2U);
  EXPECT_EQ(LabelOf(last), "1+2");
  EXPECT_EQ(last.spec->request.tasks, 3U);
}

TEST_F(Groups, ARetryWithTheSameTokenHasOneEffect) {
  const std::vector<JobSpec> specs = {world.Spec(Tasks(1)), world.Spec(Tasks(1))};
  const JobId job = Send(specs).job;
  const Transition again = Send(specs);
  EXPECT_EQ(again.job, job);
  EXPECT_TRUE(again.events.empty());
}

TEST_F(Groups, StartAtOneInstantOnResourcesOfTheirOwnAlsoOnOneNode) {
  world.AddNode("n1", {.cores = 4, .gpus = 1});
  const JobId job = Submit({Tasks(3), WithGpu(1)});
  Schedule();
  const Job& leader = *world.state.FindJob(job);
  const Job& other = *world.state.FindJob(job.Next());
  ASSERT_TRUE(leader.attempt.has_value() && other.attempt.has_value());
  EXPECT_EQ(leader.attempt->started, other.attempt->started);
  EXPECT_FALSE(
      leader.attempt->allocation.nodes[0].cpus.Meets(other.attempt->allocation.nodes[0].cpus));
  EXPECT_EQ(other.attempt->allocation.nodes[0].gpus.size(), 1U);
}

TEST_F(Groups, DoNotStartByHalfAndSayWhichComponentIsWaitedFor) {
  world.AddNode("n1", {.cores = 4});
  world.Submit(Tasks(2));
  Schedule();
  const JobId job = Submit({Tasks(1), Tasks(3)});
  Schedule();
  EXPECT_FALSE(Runs(job));
  EXPECT_FALSE(Runs(job.Next()));
  const Reason leader = world.ReasonFor(job);
  EXPECT_EQ(leader.kind, ReasonKind::kHetJob);
  EXPECT_EQ(ToSentence(leader), "waits for component 1 of the heterogeneous job, job 3");
  EXPECT_EQ(world.ReasonFor(job.Next()).kind, ReasonKind::kResources);
}

TEST_F(Groups, ThatFitOneByOneButNotTogetherSaySo) {
  world.AddNode("n1", {.cores = 4});
  world.Submit(Tasks(1));
  Schedule();
  const JobId job = Submit({Tasks(2), Tasks(2)});
  EXPECT_EQ(ToSentence(world.ReasonFor(job)),
            "the 2 components of the heterogeneous job do not fit together now");
  EXPECT_EQ(world.ReasonFor(job).verdict, ReasonClass::kNotNow);
}

TEST_F(Groups, ThatNeverFitTogetherAreToldNeverAndKeepNobodyWaiting) {
  world.AddNode("n1", {.cores = 4});
  const JobId job = Submit({Tasks(3), Tasks(2)});
  const JobId behind = world.Submit(Tasks(4));
  Schedule();
  EXPECT_TRUE(Runs(behind));
  const Reason reason = world.ReasonFor(job);
  EXPECT_EQ(reason.verdict, ReasonClass::kNever);
  EXPECT_THAT(ToSentence(reason), HasSubstr("do not fit together"));
}

TEST_F(Groups, AreTriedInEveryOrderSoThatOneDoesNotTakeTheOthersOnlyNode) {
  world.AddNode("n1", {.cores = 2});
  world.AddNode("n2", {.cores = 4});
  ResourceRequest listed = Tasks(1, 2);
  listed.nodelist = {"n2"};
  ResourceRequest rest = Tasks(2, 2);  // alone it is put on n2, whole
  const JobId job = Submit({rest, listed});
  Schedule();
  EXPECT_TRUE(Runs(job));
  EXPECT_TRUE(Runs(job.Next()));
}

TEST_F(Groups, HaveOneReservedTimeThatBackfillDoesNotDelay) {
  world.AddNode("n1", {.cores = 4});
  world.AddNode("n2", {.cores = 4});
  world.Submit(Timed(Tasks(4), 10));  // n1
  world.Submit(Timed(Tasks(2), 20));  // half of n2
  Schedule();
  const JobId job = Submit({Timed(Tasks(4), 5), Timed(Tasks(4), 5)});
  const JobId longer = world.Submit(Timed(Tasks(2), 30));
  const JobId shorter = world.Submit(Timed(Tasks(2), 15));
  const Plan plan = world.MakePlanNow();
  std::vector<Time> starts;
  for (const PlannedReservation& reservation : plan.reservations) {
    if (reservation.job == job || reservation.job == job.Next()) {
      starts.push_back(reservation.start);
    }
  }
  const Time common = world.now + std::chrono::minutes(20);
  EXPECT_EQ(starts, (std::vector<Time>{common, common}));
  Schedule();
  EXPECT_FALSE(Runs(longer)) << "it would delay the group";
  EXPECT_TRUE(Runs(shorter));
}

TEST_F(Groups, AreNotStartedByHalfWhereALimitCountsTheWhole) {
  world.AddNode("n1", {.cores = 8});
  world.Add(PolicyKind::kQos, "small", {{"GrpTRES", "cpu=4"}});
  JobSpec first = world.Spec(Tasks(3));
  JobSpec second = world.Spec(Tasks(2));
  first.qos = second.qos = "small";
  const JobId job = Submit({first, second});
  Schedule();
  EXPECT_FALSE(Runs(job));
  EXPECT_FALSE(Runs(job.Next()));
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kQOSGrpCpuLimit);
}

TEST_F(Groups, CountAllTheirLicencesTogether) {
  world.AddNode("n1", {.cores = 8});
  world.config.licenses = {{"ansys", 2}};
  JobSpec first = world.Spec(Tasks(1));
  first.licenses = {{"ansys", 2}};
  JobSpec second = world.Spec(Tasks(1));
  second.licenses = {{"ansys", 1}};
  const JobId job = Submit({first, second});
  Schedule();
  EXPECT_FALSE(Runs(job));
  EXPECT_EQ(world.ReasonFor(job.Next()).kind, ReasonKind::kLicenses);
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kHetJob);
}

TEST_F(Groups, HalfAPlannedGroupDoesNotVerify) {
  world.AddNode("n1", {.cores = 4});
  Submit({Tasks(1), Tasks(1)});
  const Plan plan = world.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 2U);
  EXPECT_FALSE(Verifier(world.state, world.now).Accept(plan.starts[0]));
  EXPECT_FALSE(Verifier(world.state, world.now).Accept(plan.starts[1]));
  EXPECT_TRUE(Verifier(world.state, world.now).AcceptTogether(plan.starts));
  Plan half = plan;
  half.starts.pop_back();
  EXPECT_TRUE(world.Take(TakePlan{half}).events.empty());
}

TEST_F(Groups, AStaleStartOfOneComponentStartsNone) {
  const NodeId node = world.AddNode("n1", {.cores = 4});
  const JobId job = Submit({Tasks(1), Tasks(3)});
  Plan plan = world.MakePlanNow();
  world.Take(DrainNode{"n1", true, "why"});
  EXPECT_TRUE(Only<Launch>(world.Take(TakePlan{plan})).empty());
  EXPECT_FALSE(Runs(job)) << node.value();
}

TEST_F(Groups, EndTogetherWhenTheLeadersScriptEndsAndAsItEnded) {
  const NodeId n1 = world.AddNode("n1", {.cores = 2});
  const NodeId n2 = world.AddNode("n2", {.cores = 4});
  const JobId job = Submit({Tasks(2), Tasks(4)});
  Schedule();
  ExpectStarted(job, 2);
  const Transition script = world.TellEnded(n1, job, 2, EndCause::kExited, ExitStatus{3, 0});
  ASSERT_EQ(Only<Terminate>(script).size(), 1U);
  EXPECT_EQ(Only<Terminate>(script)[0].job, job.Next());
  EXPECT_TRUE(Runs(job)) << "its end waits for the others'";
  world.TellEnded(n2, job.Next(), 2, EndCause::kJobEnding, ExitStatus{0, 15});
  ASSERT_TRUE(world.EndOf(job).has_value() && world.EndOf(job.Next()).has_value());
  EXPECT_EQ(world.EndOf(job)->state, JobState::kFailed);
  EXPECT_EQ(world.EndOf(job.Next())->state, JobState::kFailed);
  EXPECT_THAT(world.EndOf(job.Next())->text, HasSubstr("component 0"));
  EXPECT_TRUE(world.state.jobs().empty());
}

TEST_F(Groups, WhoseScriptSucceedsAreCompletedAllOfThem) {
  const NodeId n1 = world.AddNode("n1", {.cores = 4});
  const JobId job = Submit({Tasks(2), Tasks(1)});
  Schedule();
  ExpectStarted(job, 2);
  world.TellEnded(n1, job, 2);
  world.TellEnded(n1, job.Next(), 2, EndCause::kJobEnding, ExitStatus{0, 15});
  EXPECT_EQ(world.EndOf(job)->state, JobState::kCompleted);
  EXPECT_EQ(world.EndOf(job.Next())->state, JobState::kCompleted);
}

TEST_F(Groups, AComponentThatReachesItsTimeLimitEndsTheOthers) {
  const NodeId n1 = world.AddNode("n1", {.cores = 4});
  const JobId job = Submit({Timed(Tasks(2), 60), Timed(Tasks(1), 5)});
  Schedule();
  ExpectStarted(job, 2);
  world.TellEnded(n1, job.Next(), 2, EndCause::kTimeLimit, ExitStatus{0, 15});
  world.TellEnded(n1, job, 2, EndCause::kJobEnding, ExitStatus{0, 15});
  EXPECT_EQ(world.EndOf(job.Next())->state, JobState::kTimeout);
  EXPECT_EQ(world.EndOf(job)->state, JobState::kTimeout);
}

TEST_F(Groups, OfRunsHaveEachTheirOwnEndAndHoldTheirsUntilTheLastIsDone) {
  const NodeId n1 = world.AddNode("n1", {.cores = 4});
  JobSpec run = world.Spec(Tasks(1));
  run.kind = JobKind::kRun;
  const JobId job = Submit({run, run});
  Schedule();
  ExpectStarted(job, 2);
  EXPECT_TRUE(Only<Terminate>(world.TellEnded(n1, job, 2)).empty());
  EXPECT_TRUE(Runs(job));
  world.TellEnded(n1, job.Next(), 2, EndCause::kExited, ExitStatus{7, 0});
  EXPECT_EQ(world.EndOf(job)->state, JobState::kCompleted);
  EXPECT_EQ(world.EndOf(job.Next())->state, JobState::kFailed);
}

TEST_F(Groups, GoBackToTheQueueTogetherWhenANodeFailsAndRunAgainTogether) {
  const NodeId n1 = world.AddNode("n1", {.cores = 2});
  const NodeId n2 = world.AddNode("n2", {.cores = 4});
  JobSpec leader = world.Spec(Tasks(2));
  leader.requeue = Choice::kYes;
  const JobId job = Submit({leader, world.Spec(Tasks(4))});
  Schedule();
  ExpectStarted(job, 2);
  world.TellEnded(n2, job.Next(), 2, EndCause::kNodeRebooted);
  EXPECT_TRUE(Runs(job));
  world.TellEnded(n1, job, 2, EndCause::kJobEnding, ExitStatus{0, 15});
  EXPECT_EQ(world.StateOf(job), JobState::kPending);
  EXPECT_EQ(world.StateOf(job.Next()), JobState::kPending);
  Schedule();
  EXPECT_EQ(world.state.FindJob(job)->attempt->number, AttemptNumber(2));
  EXPECT_EQ(world.state.FindJob(job.Next())->attempt->number, AttemptNumber(2));
}

TEST_F(Groups, AreRequeuedAsAWhole) {
  const NodeId n1 = world.AddNode("n1", {.cores = 4});
  const JobId job = Submit({Tasks(2), Tasks(1)});
  Schedule();
  ExpectStarted(job, 2);
  EXPECT_EQ(world.Take(RequeueJob{job, std::nullopt, world.ada}).count, 2U);
  world.TellEnded(n1, job, 2, EndCause::kRequeued);
  EXPECT_TRUE(Runs(job.Next()));
  world.TellEnded(n1, job.Next(), 2, EndCause::kRequeued);
  EXPECT_FALSE(Runs(job));
  EXPECT_FALSE(Runs(job.Next()));
}

TEST_F(Groups, OnANodeThatRebootsEndOnce) {
  world.AddNode("n1", {.cores = 4});
  const JobId job = Submit({Tasks(2), Tasks(1)});
  Schedule();
  ExpectStarted(job, 2);
  const Node& node = *world.state.FindNode("n1");
  world.Take(LoseAgent{node.id});
  Registration again = testing::World::RegistrationOf("n1", {.cores = 4});
  again.boot_id = "boot2";
  again.instance = "second";
  world.Take(RegisterAgent{again});
  EXPECT_EQ(world.EndOf(job)->state, JobState::kNodeFail);
  EXPECT_EQ(world.EndOf(job.Next())->state, JobState::kNodeFail);
  EXPECT_TRUE(world.state.jobs().empty());
}

TEST_F(Groups, AreCancelledAsAWholeWaitingOrRunning) {
  const JobId waiting = Submit({Tasks(1), Tasks(1)});
  EXPECT_EQ(world.Take(CancelJob{waiting, std::nullopt, world.ada}).count, 2U);
  EXPECT_TRUE(world.state.jobs().empty());
  world.AddNode("n1", {.cores = 4});
  const JobId running = Submit({Tasks(1), Tasks(1)});
  Schedule();
  EXPECT_EQ(Only<Terminate>(world.Take(CancelJob{running, std::nullopt, world.ada})).size(), 2U);
}

TEST_F(Groups, NoComponentCanBeCancelledHeldRequeuedOrUpdatedAlone) {
  const JobId job = Submit({Tasks(1), Tasks(1)});
  const JobId component = job.Next();
  JobUpdate changes;
  changes.nice = 3;
  const std::vector<Command> commands = {
      CancelJob{component, std::nullopt, world.ada},
      HoldJob{component, std::nullopt, true, world.ada},
      RequeueJob{component, std::nullopt, world.ada},
      UpdateJob{component, std::nullopt, changes, {}, world.ada}};
  for (const Command& command : commands) {
    EXPECT_EQ(std::string(world.Take(command).status.message()),
              "job 2: is component 1+1 of a heterogeneous job, whose components live and end "
              "together; name the whole: 1");
  }
  EXPECT_TRUE(world.Take(HoldJob{job, std::nullopt, true, world.ada}).status.ok());
  EXPECT_TRUE(world.state.FindJob(component)->held);
  EXPECT_EQ(BrokenGroup(world.state), std::nullopt);
}

TEST_F(Groups, AreRefusedAsAWholeAndTheLineNamesTheComponent) {
  JobSpec bad = world.Spec(Tasks(1));
  bad.request.tasks = UINT32_MAX;
  EXPECT_THAT(std::string(Send({world.Spec(Tasks(1)), bad}).status.message()),
              HasSubstr("component 1: --ntasks"));
  JobSpec array = world.Spec(Tasks(1));
  array.array = ArraySpec{{{0, 3, 1}}, 0};
  EXPECT_EQ(std::string(Send({array, world.Spec(Tasks(1))}).status.message()),
            "component 0: --array: not for a heterogeneous job");
  JobSpec choice = world.Spec(Tasks(1));
  choice.alternatives = {{Tasks(1), Duration(0)}, {Tasks(2), Duration(0)}};
  EXPECT_EQ(std::string(Send({world.Spec(Tasks(1)), choice}).status.message()),
            "component 1: --alt: not for a heterogeneous job");
  EXPECT_EQ(world.state.next_job(), JobId(1));
}

TEST_F(Groups, CountAllComponentsInSubmitLimits) {
  world.Add(PolicyKind::kQos, "few", {{"MaxSubmitJobsPerUser", "1"}});
  JobSpec spec = world.Spec(Tasks(1));
  spec.qos = "few";
  EXPECT_THAT(std::string(Send({spec, spec}).status.message()), HasSubstr("component 1: "));
  EXPECT_TRUE(Send({spec, world.Spec(Tasks(1))}).status.ok());
}

TEST_F(Groups, TakeWhatConcernsTheWholeFromTheFirstComponent) {
  JobSpec first = world.Spec(Tasks(1));
  first.held = true;
  first.nice = 7;
  first.begin = world.now + std::chrono::hours(1);
  const JobId job = Submit({first, world.Spec(Tasks(1))});
  const Job& other = *world.state.FindJob(job.Next());
  EXPECT_TRUE(other.held);
  EXPECT_EQ(other.spec->nice, 7);
  EXPECT_EQ(other.spec->begin, first.begin);
}

TEST_F(Groups, ADependencyOnTheJobMeansAllOfIt) {
  const NodeId n1 = world.AddNode("n1", {.cores = 4});
  const JobId job = Submit({Tasks(2), Tasks(1)});
  JobSpec after = world.Spec(Tasks(1));
  after.dependency.terms = {{DependencyKind::kAfterOk, job, std::nullopt, Duration(0)}};
  const JobId waiting = world.Submit(after);
  Schedule();
  ExpectStarted(job, 2);
  EXPECT_EQ(world.ReasonFor(waiting).kind, ReasonKind::kDependency);
  world.TellEnded(n1, job, 2);
  world.TellEnded(n1, job.Next(), 2, EndCause::kJobEnding, ExitStatus{0, 15});
  Schedule();
  EXPECT_TRUE(Runs(waiting));
}

TEST_F(Groups, WaitForADependencyTogether) {
  world.AddNode("n1", {.cores = 4});
  const JobId before = world.Submit(Tasks(1));
  JobSpec leader = world.Spec(Tasks(1));
  leader.dependency.terms = {{DependencyKind::kAfterOk, before, std::nullopt, Duration(0)}};
  const JobId job = Submit({leader, world.Spec(Tasks(1))});
  Schedule();
  EXPECT_FALSE(Runs(job) || Runs(job.Next()));
  EXPECT_EQ(world.ReasonFor(job.Next()).kind, ReasonKind::kDependency);
  EXPECT_EQ(world.ReasonFor(job).kind, ReasonKind::kDependency);
}

}  // namespace
}  // namespace muster::core
