// What an update changes of a job that waits, option by option.

#include "scheduler/core/handle/changed_options.h"

#include <gtest/gtest.h>

#include "scheduler/model/job/program_check.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using std::chrono::minutes;
using testing::Tasks;
using testing::World;

class ChangedOptionsTest : public ::testing::Test {
 protected:
  ChangedOptionsTest() {
    world.AddNode("n1");
    world.AddNode("n2");
  }
  absl::Status Change(JobId job, std::vector<std::string> options, const JobSpec& asked,
                      const User& by) {
    JobUpdate changes;
    changes.options = std::move(options);
    changes.asked = asked;
    return world.Take(UpdateJob{job, std::nullopt, changes, {}, by}).status;
  }
  absl::Status Change(JobId job, std::vector<std::string> options, const JobSpec& asked) {
    return Change(job, std::move(options), asked, world.ada);
  }
  const JobSpec& SpecOf(JobId job) { return *world.state.FindJob(job)->spec; }

  World world;
};

TEST_F(ChangedOptionsTest, OnlyWhatIsNamedChanges) {
  const JobId job = world.Submit(Tasks(1));
  JobSpec asked;
  asked.request.memory_per_node = kGibibyte;
  asked.request.min_cpus = 3;
  ASSERT_TRUE(Change(job, {"mem"}, asked).ok());
  EXPECT_EQ(SpecOf(job).request.memory_per_node, kGibibyte);
  EXPECT_EQ(SpecOf(job).request.min_cpus, 0U);
}

TEST_F(ChangedOptionsTest, TasksThatFollowedFromTheNodesFollowAgain) {
  ResourceRequest two;
  two.min_nodes = two.max_nodes = 2;
  const JobId job = world.Submit(two);
  JobSpec asked;
  asked.request.min_nodes = asked.request.max_nodes = 1;
  ASSERT_TRUE(Change(job, {"nodes"}, asked).ok());
  EXPECT_EQ(SpecOf(job).request.tasks, 1U);
  asked.request.min_nodes = asked.request.max_nodes = 4;
  ASSERT_TRUE(Change(job, {"nodes"}, asked).ok());
  EXPECT_EQ(SpecOf(job).request.tasks, 4U);
}

TEST_F(ChangedOptionsTest, NodesThatFollowedFromTheTasksFollowAgain) {
  const JobId job = world.Submit(Tasks(2));
  JobSpec asked;
  asked.request.tasks = 8;
  ASSERT_TRUE(Change(job, {"ntasks"}, asked).ok());
  EXPECT_EQ(SpecOf(job).request.tasks, 8U);
  EXPECT_EQ(SpecOf(job).request.max_nodes, 8U);
  world.Schedule();
  EXPECT_TRUE(world.state.FindJob(job)->attempt.has_value()) << "on both nodes";
}

TEST_F(ChangedOptionsTest, MemoryOfTheNodeTakesThePlaceOfThatOfACpu) {
  ResourceRequest request = Tasks(1);
  request.memory_per_cpu = kMebibyte;
  const JobId job = world.Submit(request);
  JobSpec asked;
  asked.request.memory_per_node = kGibibyte;
  ASSERT_TRUE(Change(job, {"mem"}, asked).ok());
  EXPECT_TRUE(SpecOf(job).request.memory_per_cpu.zero());
}

TEST_F(ChangedOptionsTest, ShorterLimitsAreMadeAnewWhenTheRequestChanges) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.time_limit = minutes(60);
  spec.time_min = minutes(20);
  const JobId job = world.Submit(spec);
  ASSERT_FALSE(SpecOf(job).alternatives.empty());
  JobSpec asked;
  asked.request.cpus_per_task = 2;
  ASSERT_TRUE(Change(job, {"cpus-per-task"}, asked).ok());
  for (const Alternative& alternative : SpecOf(job).alternatives) {
    EXPECT_EQ(alternative.request.cpus_per_task, 2U);
  }
  EXPECT_EQ(SpecOf(job).alternatives.back().time_limit, minutes(20));
  asked.time_min = Duration(0);
  ASSERT_TRUE(Change(job, {"time-min"}, asked).ok());
  EXPECT_TRUE(SpecOf(job).alternatives.empty());
}

TEST_F(ChangedOptionsTest, AnOptionThatIsNotChangedOrAPartitionThatIsNotThereIsRefused) {
  const JobId job = world.Submit(Tasks(1));
  EXPECT_EQ(Change(job, {"output"}, JobSpec()).code(), absl::StatusCode::kInvalidArgument);
  JobSpec asked;
  asked.partition = "nowhere";
  EXPECT_EQ(Change(job, {"partition"}, asked).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(SpecOf(job).partition, "");
  asked.qos = "gold";
  EXPECT_EQ(Change(job, {"qos"}, asked).code(), absl::StatusCode::kNotFound);
  JobUpdate empty;
  empty.options = {"mem"};
  EXPECT_EQ(world.Take(UpdateJob{job, std::nullopt, empty, {}, world.ada}).status.code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ChangedOptionsTest, OnlyOperatorsFixAPriority) {
  const JobId job = world.Submit(Tasks(1));
  world.config.operator_uid = world.bob.uid;
  JobSpec asked;
  asked.priority = 7;
  EXPECT_EQ(Change(job, {"priority"}, asked).code(), absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(Change(job, {"priority"}, asked, world.bob).ok());
  EXPECT_EQ(SpecOf(job).priority, 7U);
}

TEST_F(ChangedOptionsTest, AJobThatRunsTakesItsThrottleAndKeepsItsPlace) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.array = ArraySpec{{ArrayRange{0, 3, 1}}, 0};
  const JobId array = world.Submit(spec);
  world.Schedule();
  ASSERT_TRUE(world.state.FindJob(array)->attempt.has_value());
  JobSpec asked;
  asked.array.emplace().max_running = 2;
  ASSERT_TRUE(Change(array, {"array-throttle"}, asked).ok());
  EXPECT_EQ(SpecOf(array).array->max_running, 2U);
  EXPECT_EQ(world.state.index().array_running().at(array), 4U);
  asked.array->max_running = 0;
  ASSERT_TRUE(Change(array, {"array-throttle"}, asked).ok());
  EXPECT_TRUE(world.state.index().array_running().empty());
  asked.request.tasks = 2;
  EXPECT_EQ(Change(array, {"ntasks"}, asked).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ChangedOptionsTest, AnOptionWithoutEffectTakesThePlaceOfItsOwnName) {
  JobSpec spec = world.Spec(Tasks(1));
  spec.recorded = {"mail-type=END", "wckey=a"};
  const JobId job = world.Submit(spec);
  JobSpec asked;
  asked.recorded = {"mail-type=FAIL", "wckey="};
  ASSERT_TRUE(Change(job, {"recorded"}, asked).ok());
  EXPECT_EQ(SpecOf(job).recorded, (std::vector<std::string>{"mail-type=FAIL"}));
}

TEST_F(ChangedOptionsTest, PathsTakeThePlaceOfTheProgramsOwn) {
  const JobId job = world.Submit(Tasks(1));
  JobSpec asked;
  asked.paths = {{"output", "first"}, {"chdir", "/data"}};
  ASSERT_TRUE(Change(job, {"paths"}, asked).ok());
  asked.paths = {{"output", "second"}};
  ASSERT_TRUE(Change(job, {"paths"}, asked).ok());
  Program program = testing::Script();
  program.stderr_path = "own";
  SetPaths(SpecOf(job).paths, program);
  EXPECT_EQ(program.stdout_path, "second");
  EXPECT_EQ(program.work_dir, "/data");
  EXPECT_EQ(program.stderr_path, "own");
}

TEST_F(ChangedOptionsTest, WhatIsNoPathIsRefused) {
  const JobId job = world.Submit(Tasks(1));
  for (const ChangedPath& path : {ChangedPath{"chdir", "data"}, ChangedPath{"script", "/x"},
                                  ChangedPath{"error", std::string(5000, 'x')},
                                  ChangedPath{"input", std::string("a\0b", 3)}}) {
    JobSpec asked;
    asked.paths = {path};
    EXPECT_EQ(Change(job, {"paths"}, asked).code(), absl::StatusCode::kInvalidArgument)
        << path.option;
  }
  EXPECT_TRUE(SpecOf(job).paths.empty());
}

}  // namespace
}  // namespace muster::core
