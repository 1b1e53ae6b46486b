#include "cli/drill/drill_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "cli/frame/environment.h"

namespace muster::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Submission Heat() {
  Submission submission;
  submission.first = JobId(12);
  submission.spec.name = "heat";
  submission.spec.user.name = "ada";
  submission.spec.time_limit = std::chrono::hours(24);
  submission.spec.requeue = Choice::kYes;
  submission.spec.requeue_exit = kRequeueExit;
  submission.spec.every = "@daily;UTC";
  submission.spec.recorded = {"mail-type=END", "notify=mail", "spread-job"};
  submission.spec.record = {"checkpoint.directory=/state", "checkpoint.interval=auto"};
  submission.program.script = "#!/bin/sh\nheat2d --checkpoint-every 10\n";
  submission.program.work_dir = "/data";
  submission.program.stdout_path = "heat.out";
  submission.program.stderr_path = "heat.err";
  return submission;
}

const DrillPlace kPlace = {"12", "/state.drill-x", 34, "12"};

absl::StatusOr<DrillOptions> Read(const std::map<std::string, std::string>& values) {
  const Environment environment{std::vector<std::string>()};
  const std::vector<Verb> verbs;
  return ReadDrillOptions(
      {.environment = environment, .verbs = verbs, .values = values, .arguments = {"12"}});
}

TEST(DrillRequest, IsTheOriginalsInADirectoryOfItsOwnAndRunsOnce) {
  const auto options = Read({});
  ASSERT_TRUE(options.ok());
  const auto request = MakeDrillRequest(Heat(), {}, *options, kPlace, kNoTime);
  ASSERT_TRUE(request.ok()) << request.status();
  const JobSpec& spec = request->spec;
  EXPECT_EQ(spec.name, "drill-heat");
  EXPECT_EQ(spec.comment, "drill of job 12, generation 34");
  EXPECT_TRUE(spec.held);
  EXPECT_EQ(spec.requeue, Choice::kNo);
  EXPECT_EQ(spec.requeue_exit, 0U);
  EXPECT_EQ(spec.every, "");
  EXPECT_THAT(spec.recorded, ElementsAre("spread-job"));
  EXPECT_EQ(spec.time_limit, std::chrono::minutes(62)) << "no longer than it is looked at";
  EXPECT_EQ(request->program.script, Heat().program.script);
  EXPECT_EQ(request->program.work_dir, "/data");
  EXPECT_EQ(request->program.stdout_path, "/state.drill-x/output");
  EXPECT_EQ(request->program.stderr_path, "");
  EXPECT_EQ(request->checkpoint_dir, "/state.drill-x/checkpoint");
  EXPECT_EQ(request->checkpoint_interval, "auto");
  EXPECT_THAT(request->exports.assignments, Contains("DRILL_OF_JOB=12"));
}

TEST(DrillRequest, TheOptionsSayOtherwise) {
  const auto options = Read({{"nodes", "2"}, {"partition", "debug"}, {"time", "5"}});
  ASSERT_TRUE(options.ok()) << options.status();
  const auto request = MakeDrillRequest(Heat(), {}, *options, kPlace, kNoTime);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->spec.partition, "debug");
  EXPECT_EQ(request->spec.request.min_nodes, 2U);
  EXPECT_EQ(request->spec.time_limit, std::chrono::minutes(5));
}

TEST(DrillRequest, CheckpointsCalledByTheJobsNameAreStillFound) {
  DrillPlace place = kPlace;
  place.writer = "heat";
  EXPECT_EQ(MakeDrillRequest(Heat(), {}, *Read({}), place, kNoTime)->spec.name, "heat");
}

TEST(DrillRequest, WrongOptionsAreRefusedByName) {
  for (const char* option : {"generation", "timeout"}) {
    for (const char* value : {"0", "soon", ""}) {
      EXPECT_THAT(std::string(Read({{option, value}}).status().message()),
                  HasSubstr(std::string("--") + option))
          << value;
    }
  }
}

TEST(DrillRequest, WhereTheCheckpointsAreFollowsFromOptionRecordOrNumber) {
  JobDetail job;
  job.job.id = JobId(12);
  job.work_dir = "/data";
  EXPECT_EQ(CheckpointsOf(job, *Read({})), "/data/muster-12.checkpoint");
  job.record = {"checkpoint.directory=/state"};
  EXPECT_EQ(CheckpointsOf(job, *Read({})), "/state");
  job.record = {"checkpoint.directory=hash 9f86d081884c7d65"};
  EXPECT_EQ(CheckpointsOf(job, *Read({})), "/data/muster-12.checkpoint");
  EXPECT_EQ(CheckpointsOf(job, *Read({{"from", "/other"}})), "/other");
}

TEST(DrillRequest, WhatCannotBeDrilledSaysWhy) {
  JobDetail job;
  job.job.uid = 7;
  job.job.user = "ada";
  EXPECT_EQ(WhyNoDrill(job, Heat(), 7, "/state"), "");
  EXPECT_THAT(WhyNoDrill(job, Heat(), 8, "/state"), HasSubstr("is ada's"));
  Submission submission = Heat();
  submission.program.script += "heat2d --checkpoint-dir /state\n";
  EXPECT_THAT(WhyNoDrill(job, submission, 7, "/state"), HasSubstr("names /state itself"));
  submission = Heat();
  submission.spec.checkpoint_with = CheckpointMeans::kCriu;
  EXPECT_THAT(WhyNoDrill(job, submission, 7, "/state"), HasSubstr("CRIU"));
  job.job.het_size = 2;
  EXPECT_THAT(WhyNoDrill(job, Heat(), 7, "/state"), HasSubstr("heterogeneous"));
}

}  // namespace
}  // namespace muster::cli
