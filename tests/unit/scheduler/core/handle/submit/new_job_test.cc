#include "scheduler/core/handle/submit/new_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Tasks;
using testing::World;

JobSpec Limited(Duration limit) {
  JobSpec spec;
  spec.request = Tasks(1);
  spec.time_limit = limit;
  return spec;
}

FeatureExpression Has(const std::string& feature) {
  return {{{FeatureOp::kHas, feature}}};
}

std::vector<Duration> LimitsOf(const JobSpec& spec) {
  std::vector<Duration> limits;
  for (const Alternative& alternative : spec.alternatives) {
    limits.push_back(alternative.time_limit);
  }
  return limits;
}

TEST(NewJob, ATaskThatAskedForItsOwnGpusSeesThoseAndOneOfAJobsGpusDoesNot) {
  JobSpec spec;
  spec.request.gpus_per_task.count = 2;
  ASSERT_TRUE(BeginNew(spec.user, SchedulerConfig(), spec).ok());
  EXPECT_TRUE(spec.request.own_gpus);
  JobSpec whole;
  whole.request.gpus.count = 2;
  whole.request.own_gpus = true;  // what a client says of it counts nothing
  ASSERT_TRUE(BeginNew(whole.user, SchedulerConfig(), whole).ok());
  EXPECT_FALSE(whole.request.own_gpus);
}

TEST(NewJob, OnlyOperatorsRaiseAPriority) {
  SchedulerConfig config;
  config.operator_uid = 7;
  JobSpec spec;
  spec.user = User{1000, 1000, "ada"};
  spec.nice = -5;
  spec.priority = 9;
  EXPECT_TRUE(absl::IsInvalidArgument(BeginNew(spec.user, config, spec)));
  spec.nice = 5;
  ASSERT_TRUE(BeginNew(spec.user, config, spec).ok());
  EXPECT_EQ(spec.priority, 0U);
  EXPECT_THAT(spec.recorded, ElementsAre("priority=9"));
  JobSpec of_operator;
  of_operator.user = User{7, 7, "op"};
  of_operator.nice = -5;
  ASSERT_TRUE(BeginNew(of_operator.user, config, of_operator).ok());
  EXPECT_EQ(of_operator.nice, -5);
  EXPECT_THAT(of_operator.recorded, IsEmpty());
}

TEST(NewJob, AShorterLimitIsTriedInEqualStepsDownToTheLeast) {
  JobSpec spec = Limited(hours(5));
  spec.time_min = hours(1);
  ASSERT_TRUE(AddChoices(SchedulerConfig(), spec).ok());
  EXPECT_THAT(LimitsOf(spec), ElementsAre(hours(5), hours(4), hours(3), hours(2), hours(1)));
  EXPECT_EQ(spec.time_limit, hours(5));
  JobSpec too_much = Limited(minutes(10));
  too_much.time_min = minutes(11);
  EXPECT_FALSE(AddChoices(SchedulerConfig(), too_much).ok());
}

TEST(NewJob, PreferredFeaturesComeFirstAndDoWithout) {
  JobSpec spec = Limited(hours(1));
  spec.request.constraint.every = Has("gpu");
  spec.prefer.every = Has("fast");
  ASSERT_TRUE(AddChoices(SchedulerConfig(), spec).ok());
  ASSERT_EQ(spec.alternatives.size(), 2U);
  EXPECT_EQ(ToText(spec.alternatives[0].request.constraint), "gpu&fast");
  EXPECT_EQ(ToText(spec.alternatives[1].request.constraint), "gpu");
}

TEST(NewJob, APreferenceAndAnAlternativeExcludeEachOther) {
  JobSpec spec = Limited(hours(1));
  spec.prefer.every = Has("fast");
  spec.alternatives.resize(2);
  EXPECT_EQ(AddChoices(SchedulerConfig(), spec).message(),
            "--prefer: excludes --alt; leave one out");
}

// Another job holds the node but for an hour: what would take longer cannot go in front of a third.
TEST(NewJob, AJobWithAShorterLeastLimitStartsWhereTheLongOneWouldDelayAnother) {
  World world;
  world.config.backfill = Backfill::kConservative;
  world.AddNode("n1", {.cores = 2});
  JobSpec half = Limited(hours(1));
  half.request = Tasks(1);
  world.Submit(half);
  world.Schedule();
  JobSpec whole = Limited(hours(1));
  whole.request = Tasks(2);
  world.Submit(whole);
  JobSpec bendable = Limited(hours(5));
  bendable.request = Tasks(1);
  bendable.time_min = minutes(30);
  const JobId job = world.Submit(bendable);
  world.Schedule();
  ASSERT_EQ(world.StateOf(job), JobState::kConfiguring);
  EXPECT_EQ(world.state.FindJob(job)->spec->time_limit, minutes(30));
}

TEST(NewJob, APreferredNodeIsTakenAndAnotherWhereItIsBusy) {
  World world;
  world.AddNode("n1", {.cores = 1});
  JobSpec spec = Limited(hours(1));
  spec.prefer.every = Has("fast");
  const JobId job = world.Submit(spec);
  world.Schedule();
  EXPECT_EQ(world.StateOf(job), JobState::kConfiguring);
}

}  // namespace
}  // namespace muster::core
