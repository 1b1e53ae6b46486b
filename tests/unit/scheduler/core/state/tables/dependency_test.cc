#include "scheduler/core/state/tables/dependency.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Tasks;
using testing::World;
using enum DependencyKind;

constexpr ExitStatus kOk{};
constexpr ExitStatus kBad{1, 0};

class DependencyTest : public ::testing::Test {
 protected:
  DependencyTest() { node = world.AddNode("n1", {.cores = 16}); }

  JobSpec Spec(std::vector<DependencyTerm> terms, bool any = false) const {
    JobSpec spec = world.Spec(Tasks(1));
    spec.dependency = Dependency{std::move(terms), any};
    return spec;
  }
  static DependencyTerm On(DependencyKind kind, JobId job) {
    return DependencyTerm{kind, job, std::nullopt, Duration(0)};
  }
  JobId Waits(std::vector<DependencyTerm> terms, bool any = false) {
    return world.Submit(Spec(std::move(terms), any));
  }
  JobId Array(std::uint32_t last, std::vector<DependencyTerm> terms = {}) {
    JobSpec spec = Spec(std::move(terms));
    spec.array = ArraySpec{{ArrayRange{0, last, 1}}, 0};
    return world.Submit(spec);
  }
  void Start() { world.Schedule(); }
  void End(JobId job, ExitStatus status = kOk) {
    if (world.StateOf(job) == JobState::kConfiguring) {
      world.TellStarted(node, job);
    }
    world.TellEnded(node, job, 2, EndCause::kExited, status);
  }
  // "-" for nothing open, else the kind and the terms.
  std::string Open(JobId job) const {
    const auto open = world.state.dependencies().Look(*world.state.FindJob(job), world.now);
    return open == nullptr
               ? "-"
               : absl::StrCat(open->state == TermState::kNever ? "never " : "", open->terms);
  }
  absl::Status Refusal(const JobSpec& spec, std::vector<TargetHistory> history = {}) {
    return world
        .Take(SubmitJob{absl::StrCat("t", ++tokens), spec, testing::Script(), std::move(history)})
        .status;
  }

  World world;
  NodeId node;
  int tokens = 0;
};

TEST_F(DependencyTest, AfterOkIsMetByCompletionOnly) {
  const JobId first = world.Submit(Tasks(1));
  const JobId second = Waits({On(kAfterOk, first)});
  const JobId third = Waits({On(kAfterNotOk, first)});
  const JobId fourth = Waits({On(kAfterAny, first)});
  EXPECT_EQ(Open(second), "afterok:1");
  Start();
  EXPECT_EQ(world.StateOf(second), JobState::kPending);
  EXPECT_EQ(world.ReasonFor(second).kind, ReasonKind::kDependency);
  End(first);
  EXPECT_EQ(Open(second), "-");
  EXPECT_EQ(Open(third), "never afternotok:1");
  EXPECT_EQ(Open(fourth), "-");
  Start();
  EXPECT_EQ(world.StateOf(second), JobState::kConfiguring);
  EXPECT_EQ(world.ReasonFor(third).kind, ReasonKind::kDependencyNeverSatisfied);
}

TEST_F(DependencyTest, AJobThatChoseItsSizeAtItsStartRunsAgainWithItsDependencyMet) {
  const JobId first = world.Submit(Tasks(1));
  JobSpec spec = Spec({On(kAfterAny, first)});
  spec.request = testing::Tasks(0);
  spec.request.min_nodes = 1;
  spec.request.max_nodes = 2;
  const JobId wide = world.Submit(spec);
  Start();
  End(first);
  Start();
  ASSERT_EQ(world.StateOf(wide), JobState::kConfiguring);
  world.Take(RequeueJob{wide, std::nullopt, world.ada});
  world.TellStarted(node, wide);
  world.TellEnded(node, wide, 2, EndCause::kRequeued, kOk);
  ASSERT_EQ(world.StateOf(wide), JobState::kPending);
  EXPECT_EQ(Open(wide), "-");
  Start();
  EXPECT_EQ(world.StateOf(wide), JobState::kConfiguring);
}

TEST_F(DependencyTest, AfterNotOkIsMetByFailureAndByCancellation) {
  const JobId first = world.Submit(Tasks(1));
  const JobId other = world.Submit(Tasks(1));
  const JobId waits = Waits({On(kAfterNotOk, first), On(kAfterNotOk, other)});
  const JobId never = Waits({On(kAfterOk, first)});
  world.Take(CancelJob{other, std::nullopt, world.ada});
  EXPECT_EQ(Open(waits), "afternotok:1");
  Start();
  End(first, kBad);
  EXPECT_EQ(Open(waits), "-");
  EXPECT_EQ(Open(never), "never afterok:1");
}

TEST_F(DependencyTest, AfterIsMetByTheStartAndItsMinutes) {
  const JobId first = world.Submit(Tasks(1));
  const JobId at_once = Waits({On(kAfter, first)});
  DependencyTerm later = On(kAfter, first);
  later.delay = std::chrono::minutes(5);
  const JobId delayed = Waits({later});
  EXPECT_EQ(Open(at_once), "after:1");
  Start();
  EXPECT_EQ(Open(at_once), "-");
  EXPECT_EQ(Open(delayed), "after:1+5");
  const Plan plan = world.MakePlanNow();
  EXPECT_EQ(plan.wake, world.now + std::chrono::minutes(5));
  world.now = plan.wake;
  EXPECT_EQ(Open(delayed), "-");
}

TEST_F(DependencyTest, AfterIsMetByAJobThatEndedWithoutStarting) {
  const JobId first = world.Submit(Tasks(1));
  const JobId waits = Waits({On(kAfter, first)});
  world.Take(CancelJob{first, std::nullopt, world.ada});
  EXPECT_EQ(Open(waits), "-");
}

TEST_F(DependencyTest, AnyNeedsOneTermAndIsNeverOnlyWhenAllAre) {
  const JobId first = world.Submit(Tasks(1));
  const JobId second = world.Submit(Tasks(1));
  const JobId waits = Waits({On(kAfterOk, first), On(kAfterOk, second)}, true);
  Start();
  End(first, kBad);
  EXPECT_EQ(Open(waits), "afterok:2");
  End(second, kBad);
  EXPECT_EQ(Open(waits), "never afterok:1?afterok:2");
}

TEST_F(DependencyTest, AnArrayIsMetWhenItsLastElementIsAndFailsWithTheFirst) {
  const JobId array = Array(2);
  const JobId waits = Waits({On(kAfterOk, array)});
  const JobId fails = Waits({On(kAfterNotOk, array)});
  DependencyTerm one = On(kAfterOk, array);
  one.element = 1;
  const JobId of_one = Waits({one});
  Start();
  End(JobId(array.value() + 1));
  EXPECT_EQ(Open(of_one), "-");
  EXPECT_EQ(Open(waits), "afterok:1");
  End(array, kBad);
  EXPECT_EQ(Open(waits), "never afterok:1");
  EXPECT_EQ(Open(fails), "afternotok:1");
  End(JobId(array.value() + 2));
  EXPECT_EQ(Open(fails), "-");
}

TEST_F(DependencyTest, AfterCorrGoesElementByElement) {
  const JobId array = Array(2);
  const JobId waits = Array(3, {On(kAfterCorr, array)});
  const auto element = [&](std::uint64_t i) { return JobId(waits.value() + i); };
  Start();
  End(array);
  End(JobId(array.value() + 1), kBad);
  EXPECT_EQ(Open(element(0)), "-");
  EXPECT_EQ(Open(element(1)), "never aftercorr:1");
  EXPECT_EQ(Open(element(2)), "aftercorr:1");
  End(JobId(array.value() + 2));
  EXPECT_EQ(Open(element(2)), "-");
  EXPECT_EQ(Open(element(3)), "never aftercorr:1");
}

TEST_F(DependencyTest, ASingletonRunsAloneAndInOrder) {
  const DependencyTerm alone = On(kSingleton, JobId());
  const JobId first = Waits({alone});
  const JobId second = Waits({alone});
  JobSpec other = Spec({alone});
  other.name = "other";
  const JobId free = world.Submit(other);
  Start();
  EXPECT_EQ(world.StateOf(first), JobState::kConfiguring);
  EXPECT_EQ(world.StateOf(free), JobState::kConfiguring);
  EXPECT_EQ(world.StateOf(second), JobState::kPending);
  EXPECT_EQ(world.ReasonFor(second).holders, std::vector{first});
  End(first);
  Start();
  EXPECT_EQ(world.StateOf(second), JobState::kConfiguring);
}

TEST_F(DependencyTest, ElementsOfASingletonArrayRunOneAtATime) {
  const JobId array = Array(2, {On(kSingleton, JobId())});
  Start();
  EXPECT_EQ(world.StateOf(array), JobState::kConfiguring);
  EXPECT_EQ(world.StateOf(JobId(array.value() + 1)), JobState::kPending);
}

TEST_F(DependencyTest, UnknownJobsAndOneselfAreRefused) {
  EXPECT_EQ(Refusal(Spec({On(kAfterOk, JobId(99))})).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Refusal(Spec({On(kAfterOk, world.state.next_job())})).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(DependencyTest, WhatCanNeverBeMetIsToldAtSubmission) {
  const JobId first = world.Submit(Tasks(1));
  Start();
  End(first, kBad);
  TargetHistory past;
  past.job = first;
  past.ended = 1;
  past.failed = 1;
  JobSpec spec = Spec({On(kAfterOk, first)});
  EXPECT_EQ(Refusal(spec).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Refusal(spec, {past}).code(), absl::StatusCode::kFailedPrecondition);
  spec.kill_on_invalid_dep = Choice::kNo;
  EXPECT_TRUE(Refusal(spec, {past}).ok());
  EXPECT_TRUE(Refusal(Spec({On(kAfterNotOk, first)}), {past}).ok());
}

TEST_F(DependencyTest, KillOnInvalidDepCancelsTheJobAndThoseBehindIt) {
  const JobId first = world.Submit(Tasks(1));
  JobSpec spec = Spec({On(kAfterOk, first)});
  spec.kill_on_invalid_dep = Choice::kYes;
  const JobId second = world.Submit(spec);
  spec.dependency.terms = {On(kAfterOk, second)};
  const JobId third = world.Submit(spec);
  Start();
  End(first, kBad);
  Start();
  EXPECT_EQ(world.EndOf(second)->state, JobState::kCancelled);
  Start();
  EXPECT_EQ(world.EndOf(third)->state, JobState::kCancelled);
}

TEST_F(DependencyTest, ARestartFindsTheSameAnswers) {
  const JobId array = Array(2);
  const JobId corr = Array(2, {On(kAfterCorr, array)});
  const JobId whole = Waits({On(kAfterAny, array)});
  Start();
  End(array);
  End(JobId(array.value() + 1), kBad);
  TargetHistory past;
  past.job = array;
  past.ended = 2;
  past.failed = 1;
  past.completed.Insert(0);
  past.others.Insert(1);
  StateImage image;
  image.version = world.state.version();
  image.epoch = world.state.epoch();
  image.next_job = world.state.next_job();
  image.next_node = world.state.node_table().next();
  for (const auto& [id, known] : world.state.nodes()) {
    image.nodes.push_back(known);
  }
  for (const auto& [id, job] : world.state.jobs()) {
    image.jobs.push_back(job);
  }
  image.history = {past};
  const ClusterState loaded(std::move(image));
  for (const JobId id : {corr, JobId(corr.value() + 1), JobId(corr.value() + 2), whole}) {
    const auto before = world.state.dependencies().Look(*world.state.FindJob(id), world.now);
    const auto after = loaded.dependencies().Look(*loaded.FindJob(id), world.now);
    ASSERT_EQ(before == nullptr, after == nullptr) << id.value();
    if (before != nullptr) {
      EXPECT_EQ(*before, *after);
    }
  }
}

TEST(DependencyText, IsWhatTheOptionReads) {
  const Dependency dependency{
      {{DependencyKind::kAfterOk, JobId(1), 3U, Duration(0)},
       {DependencyKind::kAfter, JobId(2), std::nullopt, std::chrono::minutes(7)},
       {DependencyKind::kSingleton, JobId(), std::nullopt, Duration(0)}},
      true};
  EXPECT_EQ(ToText(dependency), "afterok:1_3?after:2+7?singleton");
}

}  // namespace
}  // namespace muster::core
