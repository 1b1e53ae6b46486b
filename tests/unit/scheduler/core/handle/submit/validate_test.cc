#include "scheduler/core/handle/submit/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/core/handle/handle.h"
#include "scheduler/model/job/program_check.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::Tasks;

absl::StatusOr<JobSpec> Check(const ResourceRequest& request) {
  JobSpec spec;
  spec.request = request;
  return Normalise(spec, SchedulerConfig());
}

void ExpectRefused(const absl::StatusOr<JobSpec>& spec, const std::string& text) {
  ASSERT_FALSE(spec.ok()) << text;
  EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(spec.status().message()), HasSubstr(text));
  EXPECT_EQ(std::string(spec.status().message()).find('\n'), std::string::npos);
}

TEST(Validate, ARequestThatSaysNothingIsOneTaskOnOneCpuOfOneNode) {
  const ResourceRequest request = Check(ResourceRequest())->request;
  EXPECT_EQ(request.tasks, 1U);
  EXPECT_EQ(request.cpus_per_task, 1U);
  EXPECT_EQ(request.min_nodes, 1U);
  EXPECT_EQ(request.max_nodes, 1U);
}

TEST(Validate, NobodyPutsHimselfBeforeOthersByNice) {
  JobSpec spec;
  spec.nice = INT32_MIN;
  ExpectRefused(Normalise(spec, SchedulerConfig()), "--nice: is not between");
  spec.nice = 0;
  EXPECT_TRUE(Normalise(spec, SchedulerConfig()).ok());
}

TEST(Validate, NodesAloneMeanOneTaskOnEach) {
  ResourceRequest request;
  request.min_nodes = 3;
  const ResourceRequest filled = Check(request)->request;
  EXPECT_EQ(filled.tasks, 3U);
  EXPECT_EQ(filled.min_nodes, 3U);
  EXPECT_EQ(filled.max_nodes, 3U);
}

TEST(Validate, NodesAndTasksPerNodeMultiply) {
  ResourceRequest request;
  request.min_nodes = 2;
  request.tasks_per_node = 4;
  EXPECT_EQ(Check(request)->request.tasks, 8U);
}

TEST(Validate, TasksAloneMaySpreadOverAsManyNodesAsThereAreTasks) {
  const ResourceRequest filled = Check(Tasks(5))->request;
  EXPECT_EQ(filled.min_nodes, 1U);
  EXPECT_EQ(filled.max_nodes, 5U);
}

TEST(Validate, TasksAndTasksPerNodeSayTheFewestNodes) {
  ResourceRequest request = Tasks(5);
  request.tasks_per_node = 2;
  EXPECT_EQ(Check(request)->request.min_nodes, 3U);
}

TEST(Validate, RefusesNodesThatRunBackwards) {
  ResourceRequest request;
  request.min_nodes = 3;
  request.max_nodes = 2;
  ExpectRefused(Check(request), "--nodes: 3-2 runs backwards");
}

TEST(Validate, RefusesANodeWithoutATask) {
  ResourceRequest request = Tasks(2);
  request.min_nodes = 3;
  ExpectRefused(Check(request), "--ntasks: 2 for 3 nodes; every node needs a task");
}

TEST(Validate, RefusesTasksThatTheNodesMayNotHold) {
  ResourceRequest request = Tasks(5);
  request.min_nodes = 2;
  request.tasks_per_node = 2;
  ExpectRefused(Check(request), "need 3 nodes; --nodes allows 2");
  request.min_nodes = 0;
  request.max_nodes = 2;
  ExpectRefused(Check(request), "need 3 nodes; --nodes allows 2");
}

TEST(Validate, RefusesNumbersBeyondTheLimits) {
  constexpr std::uint32_t kHuge = UINT32_MAX;
  ExpectRefused(Check(Tasks(kHuge)), "--ntasks: 4294967295 is more than the limit");
  ExpectRefused(Check(Tasks(1, kHuge)), "--cpus-per-task");
  ResourceRequest request;
  request.min_nodes = kHuge;
  ExpectRefused(Check(request), "--nodes");
  request = ResourceRequest();
  request.tasks_per_node = kHuge;
  ExpectRefused(Check(request), "--ntasks-per-node");
  request = ResourceRequest();
  request.min_nodes = 1U << 16;
  request.tasks_per_node = 1U << 16;
  ExpectRefused(Check(request), "tasks in all");
  request = ResourceRequest();
  request.gpus.count = kHuge;
  ExpectRefused(Check(request), "--gpus");
  request = ResourceRequest();
  request.gpus_per_node.count = kHuge;
  ExpectRefused(Check(request), "--gpus-per-node");
  request = ResourceRequest();
  request.gpus_per_task.count = kHuge;
  ExpectRefused(Check(request), "--gpus-per-task");
}

TEST(Validate, RefusesMemoryThatNoMachineHasAndProductsThatWouldWrap) {
  ResourceRequest request;
  request.memory_per_node = Bytes(UINT64_MAX);
  ExpectRefused(Check(request), "--mem: more than 1 PiB");
  request = Tasks(1, 65536);
  request.memory_per_cpu = Bytes(std::uint64_t{1} << 50);  // times 65,536 is 2^66
  ExpectRefused(Check(request), "--mem-per-cpu: more than 1 PiB a task");
  request = ResourceRequest();
  request.memory_per_node = kGibibyte;
  request.memory_per_cpu = kGibibyte;
  ExpectRefused(Check(request), "not both");
}

TEST(Validate, GpusOfTheJobBecomeGpusOfTasksOrOfNodes) {
  ResourceRequest request = Tasks(4);
  request.gpus = {"a100", 8};
  ResourceRequest filled = Check(request)->request;
  EXPECT_EQ(filled.gpus_per_task, (GpuRequest{"a100", 2}));
  EXPECT_EQ(filled.gpus, GpuRequest());
  request.gpus.count = 2;  // does not divide over 4 tasks: two nodes say one each
  request.min_nodes = 2;
  request.max_nodes = 2;
  filled = Check(request)->request;
  EXPECT_EQ(filled.gpus_per_node, (GpuRequest{"a100", 1}));
  request.min_nodes = 1;  // one node, then
  request.max_nodes = 4;
  filled = Check(request)->request;
  EXPECT_EQ(filled.gpus_per_node, (GpuRequest{"a100", 2}));
  EXPECT_EQ(filled.max_nodes, 1U);
  request.min_nodes = 3;
  request.max_nodes = 4;
  ExpectRefused(Check(request), "do not divide over 3 nodes or 4 tasks");
}

TEST(Validate, RefusesGpusSaidTwice) {
  ResourceRequest request;
  request.gpus.count = 1;
  request.gpus_per_node.count = 1;
  ExpectRefused(Check(request), "say GPUs once");
  request.gpus.count = 0;
  request.gpus_per_task.count = 1;
  ExpectRefused(Check(request), "say GPUs once");
}

TEST(Validate, RefusesTextThatIsTooLongOrNotPrintable) {
  JobSpec spec;
  spec.name = std::string(1 << 20, 'x');
  ExpectRefused(Normalise(spec, SchedulerConfig()), "--job-name: 1048576 bytes; at most 200");
  spec.name = std::string("a\0b", 3);
  ExpectRefused(Normalise(spec, SchedulerConfig()), "--job-name: holds a control character");
  spec.name.clear();
  spec.account = "a\n";
  ExpectRefused(Normalise(spec, SchedulerConfig()), "--account: holds a control character");
  spec.account.clear();
  spec.comment = std::string(5000, 'c');
  ExpectRefused(Normalise(spec, SchedulerConfig()), "--comment: 5000 bytes");
  spec.comment.clear();
  spec.request.gpus = {"a\x7f", 1};
  ExpectRefused(Normalise(spec, SchedulerConfig()), "--gpus: holds a control character");
}

TEST(Validate, FillsTimesFromTheSettingsAndRefusesNonsense) {
  SchedulerConfig config;
  config.default_time_limit = std::chrono::hours(1);
  JobSpec spec;
  EXPECT_EQ(Normalise(spec, config)->time_limit, std::chrono::hours(1));
  EXPECT_EQ(Normalise(spec, config)->kill_grace, config.kill_grace);
  spec.time_limit = std::chrono::minutes(5);
  EXPECT_EQ(Normalise(spec, config)->time_limit, std::chrono::minutes(5));
  spec.time_limit = Duration(-1);
  ExpectRefused(Normalise(spec, config), "--time: is negative");
  spec.time_limit = Duration::max();
  ExpectRefused(Normalise(spec, config), "--time: more than 36525 days");
  spec.time_limit = Duration(0);
  spec.begin = Time::max();
  ExpectRefused(Normalise(spec, config), "--begin");
}

JobSpec WithArray(std::vector<ArrayRange> ranges) {
  JobSpec spec;
  spec.array = ArraySpec{std::move(ranges), 0};
  return spec;
}

TEST(Validate, RefusesArraysThatNameNothingOrTooMuchOrOneTwice) {
  const SchedulerConfig config;
  ExpectRefused(Normalise(WithArray({}), config), "names no element");
  ExpectRefused(Normalise(WithArray({{3, 2, 1}}), config), "--array: 3-2:1 is empty");
  ExpectRefused(Normalise(WithArray({{0, 2, 0}}), config), "--array: 0-2:0 is empty");
  ExpectRefused(Normalise(WithArray({{0, UINT32_MAX, 1}}), config), "more than 1000000 elements");
  ExpectRefused(Normalise(WithArray({{0, 9, 1}, {5, 5, 1}}), config), "names 5 twice");
  JobSpec run = WithArray({{0, 1, 1}});
  run.kind = JobKind::kRun;
  ExpectRefused(Normalise(run, config), "only for batch scripts");
}

TEST(Validate, RefusesAnArrayOfTooManyRanges) {
  std::vector<ArrayRange> ranges;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    ranges.push_back(ArrayRange{i * 2, i * 2, 1});
  }
  EXPECT_TRUE(Normalise(WithArray(ranges), SchedulerConfig()).ok());
  ranges.push_back(ArrayRange{30'000, 30'000, 1});
  ExpectRefused(Normalise(WithArray(std::move(ranges)), SchedulerConfig()),
                "10001 ranges; at most 10000");
}

TEST(Validate, WhatItReturnsItTakesAgainUnchanged) {
  ResourceRequest request = Tasks(6, 2);
  request.tasks_per_node = 4;
  request.gpus = {"", 12};
  const JobSpec once = *Check(request);
  EXPECT_EQ(*Normalise(once, SchedulerConfig()), once);
}

TEST(Validate, ABatchJobNeedsAnInterpreterLine) {
  Program program = testing::Script();
  EXPECT_TRUE(CheckProgram(JobKind::kBatch, program).ok());
  for (const char* script : {"", "echo hi\n", " #!/bin/sh\n", "#"}) {
    program.script = script;
    EXPECT_THAT(std::string(CheckProgram(JobKind::kBatch, program).message()),
                HasSubstr("does not begin with #!"));
  }
}

TEST(Validate, CopiesHavePlacesThatALineCanShow) {
  Program program = testing::Script();
  program.stage_in = {{"s3:bucket/data", "/scratch/data"}};
  EXPECT_TRUE(CheckProgram(JobKind::kBatch, program).ok());
  for (const StagePair& bad : {StagePair{"", "/a"}, StagePair{"a", "/b\n"}}) {
    program.stage_out = {bad};
    EXPECT_THAT(std::string(CheckProgram(JobKind::kBatch, program).message()),
                HasSubstr("--stage-out: a place is empty"));
  }
}

TEST(Validate, ARunNeedsACommandAndNothingHoldsANulByte) {
  EXPECT_FALSE(CheckProgram(JobKind::kRun, Program()).ok());
  Program program = testing::TrueProgram();
  EXPECT_TRUE(CheckProgram(JobKind::kRun, program).ok());
  program.environment.push_back(std::string("A=\0", 3));
  EXPECT_THAT(std::string(CheckProgram(JobKind::kRun, program).message()), HasSubstr("NUL"));
  program = testing::TrueProgram();
  program.argv.push_back(std::string("\0", 1));
  EXPECT_FALSE(CheckProgram(JobKind::kRun, program).ok());
}

TEST(Validate, WhereAStepIsWatchedNoOtherBytesAreSaidThanATokens) {
  const std::string token = "0123456789abcdef0123456789abcdef";
  Program program = testing::TrueProgram();
  for (const char* address : {"unix:/run/user/1000/muster-run.x/io.sock", "unix:/a place/s",
                              "node7:41234", "10.0.0.7:1", "[fe80::1%eth0]:65535"}) {
    program.io = {.address = address, .token = token};
    EXPECT_TRUE(CheckProgram(JobKind::kRun, program).ok()) << address;
  }
  for (const std::string& address :
       {std::string("unix:relative"), std::string("unix:"), std::string("unix:/a\nb"),
        std::string("unix:/a\0b", 9), std::string("unix:/") + std::string(5000, 'x'),
        std::string("node7"), std::string("node7:"), std::string(":80"), std::string("node7:0"),
        std::string("node7:65536"), std::string("node7:1x"), std::string("a b:80"),
        std::string("a/b:80"), std::string(300, 'a') + ":80", std::string()}) {
    program.io = {.address = address, .token = token};
    EXPECT_THAT(std::string(CheckProgram(JobKind::kRun, program).message()),
                HasSubstr("neither unix:/PATH nor HOST:PORT"))
        << address;
  }
  for (const std::string& other :
       {std::string(), std::string("\r\nBEGIN\r\n"), token + "0", token.substr(1),
        token.substr(1) + "A", token.substr(1) + "g", token.substr(1) + "\n"}) {
    program.io = {.address = "node7:80", .token = other};
    EXPECT_THAT(std::string(CheckProgram(JobKind::kRun, program).message()),
                HasSubstr("not 32 lower-case hex digits"))
        << other;
  }
}

// An operator without what it is of.
FeatureExpression Incomplete() {
  return FeatureExpression{{FeatureToken{FeatureOp::kAnd, ""}}};
}

TEST(Validate, NoAlternativeHasTermsThatTheFirstRequestMayNotHave) {
  JobSpec spec;
  spec.alternatives = {Alternative{Tasks(1), Duration(0)}, Alternative{Tasks(1), Duration(0)}};
  spec.alternatives.back().request.constraint.every = Incomplete();
  ExpectRefused(Normalise(spec, SchedulerConfig()), "--constraint: is not an expression");
  spec.alternatives.back() = Alternative{Tasks(1), Duration(0)};
  spec.alternatives.back().request.nodelist = {"n1"};
  spec.alternatives.back().request.exclude = {"n1"};
  ExpectRefused(Normalise(spec, SchedulerConfig()), "--exclude: n1 is in --nodelist too");
}

TEST(Validate, WhatIsPreferredIsAnExpressionByItself) {
  JobSpec spec;
  spec.prefer.every = Incomplete();
  ExpectRefused(Normalise(spec, SchedulerConfig()), "--constraint: is not an expression");
}

TEST(Validate, AComponentThatPrefersNonsenseIsRefused) {
  testing::World world;
  SubmitJob submit;
  submit.token = "t";
  submit.spec.request = Tasks(1);
  submit.program = testing::Script();
  submit.components = {Component{submit.spec, {}}};
  submit.components.front().spec.prefer.every = Incomplete();
  const Transition refused = Handle(world.state, submit, world.now, world.config);
  EXPECT_THAT(std::string(refused.status.message()),
              HasSubstr("component 1: --constraint: is not"));
}

}  // namespace
}  // namespace muster::core
