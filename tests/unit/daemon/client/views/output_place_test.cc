#include "daemon/client/views/output_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

// Element 3 of array 7, on two nodes.
JobDetail Batch() {
  JobDetail job;
  job.batch = true;
  job.job.id = JobId(10);
  job.job.label = "7_3";
  job.job.array_job_id = JobId(7);
  job.job.array_task_id = "3";
  job.job.name = "a/b";
  job.job.user = "ada";
  AttemptView attempt;
  attempt.nodes = {"n1", "n2"};
  job.attempts.push_back(attempt);
  return job;
}

Program Script() {
  Program program;
  program.script = "#!/bin/sh\n";
  program.work_dir = "/home/ada";
  return program;
}

StepStarted Step(const std::string& output) {
  StepStarted step;
  step.step = StepId(2);
  step.program.stdout_path = output;
  step.program.io.address = "unix:/run";
  for (std::uint32_t i = 0; i < 2; ++i) {
    NodeAllocation part;
    part.name = i == 0 ? "n1" : "n2";
    part.ranks.resize(1);
    part.ranks[0].rank = i;
    step.placement.nodes.push_back(part);
  }
  return step;
}

std::string Refusal(const absl::StatusOr<OutputPlace>& place) {
  return std::string(place.status().message());
}

TEST(OutputPlace, AScriptsPatternsAreWhatItsSupervisorMadeOfThem) {
  Program program = Script();
  EXPECT_EQ(*FindOutput({}, Batch(), program, nullptr),
            (OutputPlace{"/home/ada/muster-7_3.out", "n1"}));
  program.stdout_path = "/logs/%x-%A_%4a.%N.%u.%%";
  EXPECT_EQ(*FindOutput({}, Batch(), program, nullptr),
            (OutputPlace{"/logs/a_b-7_0003.n1.ada.%", "n1"}));
  JobDetail changed = Batch();
  changed.work_dir = "/scratch";
  changed.stdout_path = "later-%j";
  EXPECT_EQ(FindOutput({}, changed, program, nullptr)->path, "/scratch/later-10");
}

TEST(OutputPlace, StandardErrorHasAFileWhereItWasNamed) {
  Program program = Script();
  ReadOutput asked;
  asked.error = true;
  EXPECT_THAT(Refusal(FindOutput(asked, Batch(), program, nullptr)),
              HasSubstr("job 7_3: its standard error goes where its output goes"));
  program.stderr_path = "err.%j";
  EXPECT_EQ(FindOutput(asked, Batch(), program, nullptr)->path, "/home/ada/err.10");
}

TEST(OutputPlace, WhatIsInNoFileIsRefusedWithWhereItGoes) {
  Program program = Script();
  program.stdout_path = "/dev/null";
  EXPECT_THAT(Refusal(FindOutput({}, Batch(), program, nullptr)), HasSubstr("goes to /dev/null"));
  program.stdout_path = "";
  program.io.address = "unix:/alloc";
  EXPECT_THAT(Refusal(FindOutput({}, Batch(), program, nullptr)),
              HasSubstr("held by muster alloc"));
  ReadOutput rank;
  rank.rank = 2;
  EXPECT_THAT(Refusal(FindOutput(rank, Batch(), Script(), nullptr)),
              HasSubstr("name the rank's step, like 7_3.1"));
  const StepStarted step = Step("");
  ReadOutput asked;
  asked.step = StepId(2);
  EXPECT_THAT(Refusal(FindOutput(asked, Batch(), Script(), &step)),
              HasSubstr("step 7_3.2: prints to the muster run that started it"));
  JobDetail component = Batch();
  component.job.het_offset = 1;
  component.job.het_job = JobId(7);
  EXPECT_THAT(Refusal(FindOutput({}, component, Script(), nullptr)),
              HasSubstr("its script runs in the first component, job 7"));
}

TEST(OutputPlace, AStepsFilesAreWhereItsMusterRunIs) {
  const StepStarted step = Step("/logs/%J-%t-%N-%n");
  ReadOutput asked;
  asked.step = StepId(2);
  asked.rank = 1;
  EXPECT_TRUE(IsOfStep(asked, Batch()));
  EXPECT_EQ(*FindOutput(asked, Batch(), Script(), &step), (OutputPlace{"/logs/10.2-1-n2-1", "n1"}));
  asked.rank = 9;
  EXPECT_THAT(Refusal(FindOutput(asked, Batch(), Script(), &step)), HasSubstr("has no rank 9"));
  asked.step = StepId();
  EXPECT_FALSE(IsOfStep(asked, Batch())) << "step 0 is the script";
}

TEST(OutputPlace, RanksWithoutAMusterRunWriteWhereTheyRun) {
  JobDetail job = Batch();
  job.batch = false;
  RankView rank;
  rank.step = StepId(1);
  rank.rank = 1;
  rank.node = "n2";
  job.attempts.back().ranks.push_back(rank);
  Program program;
  program.argv = {"solver"};
  program.work_dir = "/w";
  program.stdout_path = "out.%t";
  ReadOutput asked;
  asked.rank = 1;
  EXPECT_FALSE(IsOfStep(asked, job));
  EXPECT_EQ(*FindOutput(asked, job, program, nullptr), (OutputPlace{"/w/out.1", "n2"}));
  asked.rank = 0;
  EXPECT_EQ(*FindOutput(asked, job, program, nullptr), (OutputPlace{"/w/out.0", "n1"}));
  asked.step = StepId();
  EXPECT_THAT(Refusal(FindOutput(asked, job, program, nullptr)), HasSubstr("no batch script"));
}

}  // namespace
}  // namespace muster::daemon
