// What a program and a request may be, whoever submits them (attacks E2, F1, C7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/policy/kill_grace.h"
#include "scheduler/model/job/order_limits.h"
#include "scheduler/model/job/program_check.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using testing::Script;
using testing::Tasks;
using testing::TrueProgram;
using testing::World;

std::string WhyNot(const Program& program, JobKind kind = JobKind::kBatch) {
  return std::string(CheckProgram(kind, program).message());
}

TEST(ProgramLimits, ScriptArgumentsAndEnvironmentAreFourMebibytesTogether) {
  Program program = Script();
  program.script += std::string(3 * kMiB, '#');
  EXPECT_TRUE(CheckProgram(JobKind::kBatch, program).ok());
  program.environment = {"A=" + std::string(kMiB / 2, 'x')};
  EXPECT_TRUE(CheckProgram(JobKind::kBatch, program).ok());
  program.argv = {std::string(kMiB / 2, 'x')};
  EXPECT_THAT(WhyNot(program), HasSubstr("bytes together; at most 4194304 are allowed"));
}

TEST(ProgramLimits, NoPartOfAProgramEscapesTheSum) {
  const std::string large(kProgramBytesMax, 'x');
  for (std::string Program::*part :
       {&Program::work_dir, &Program::stdin_path, &Program::stdout_path, &Program::stderr_path,
        &Program::progress_path}) {
    Program program = TrueProgram();
    program.*part = large;
    EXPECT_THAT(WhyNot(program, JobKind::kRun), HasSubstr("bytes together"));
  }
  Program program = TrueProgram();
  program.io.address = large;
  EXPECT_THAT(WhyNot(program, JobKind::kRun), HasSubstr("bytes together"));
}

TEST(ProgramLimits, ManySmallEntriesCountToo) {
  Program program = Script();
  program.argv.assign(kProgramEntriesMax, "");
  EXPECT_TRUE(CheckProgram(JobKind::kBatch, program).ok());
  program.argv.emplace_back();
  EXPECT_THAT(WhyNot(program), HasSubstr("at most 65536 of each"));
  program.argv.clear();
  for (std::size_t i = 0; i <= kProgramEntriesMax; ++i) {
    program.environment.push_back(absl::StrCat("V", i, "="));
  }
  EXPECT_THAT(WhyNot(program), HasSubstr("65537 variables; at most 65536"));
}

TEST(ProgramLimits, AnEntryOfTheEnvironmentHasANameAndAnEqualsSignAndIsThereOnce) {
  Program program = Script();
  program.environment = {"A=1", "B=", "C=x=y", "a=2"};
  EXPECT_TRUE(CheckProgram(JobKind::kBatch, program).ok());
  program.environment = {"A=1", "NOEQUALS"};
  EXPECT_THAT(WhyNot(program), HasSubstr("entry 2 of the environment has no ="));
  program.environment = {"=x"};
  EXPECT_THAT(WhyNot(program), HasSubstr("entry 1 of the environment has no name"));
  program.environment = {"A=1", "B=2", "A=3"};
  EXPECT_THAT(WhyNot(program), HasSubstr("the environment has A twice"));
  program.environment = {"\x1b[2J=1", "\x1b[2J=2"};
  EXPECT_THAT(WhyNot(program), HasSubstr("the environment has a variable twice"));
}

TEST(ProgramLimits, EveryWayInHasThem) {
  World world;
  world.AddNode("n1");
  const std::string large = "#!/bin/sh\n" + std::string(kProgramBytesMax, '#');
  SubmitJob job;
  job.token = "one";
  job.spec = world.Spec(Tasks(1));
  job.program = Script();
  job.program.script = large;
  EXPECT_THAT(std::string(world.Take(job).status.message()), HasSubstr("bytes together"));

  SubmitJob array = job;
  array.spec.array = ArraySpec{{{0, 9, 1}}, 0};
  EXPECT_THAT(std::string(world.Take(array).status.message()), HasSubstr("bytes together"));

  SubmitJob het = job;
  het.spec.kind = JobKind::kRun;
  het.program = TrueProgram();
  het.components = {Component{world.Spec(Tasks(1)), TrueProgram()}};
  het.components[0].program.environment = {large};
  EXPECT_THAT(std::string(world.Take(het).status.message()),
              HasSubstr("component 1: the script, its arguments"));

  const JobId running = world.Submit(Tasks(1));
  world.Schedule();
  StartStep step;
  step.token = "two";
  step.job = running;
  step.by = world.ada;
  step.program = TrueProgram();
  step.program.environment = {large};
  EXPECT_THAT(std::string(world.Take(step).status.message()), HasSubstr("bytes together"));
}

TEST(RequestLimits, ListsThatNoOtherLimitCountsAreBoundedTogether) {
  JobSpec spec;
  spec.request = Tasks(1);
  spec.alternatives.resize(2, Alternative{Tasks(1), Duration(0)});
  EXPECT_TRUE(Normalise(spec, SchedulerConfig()).ok());
  for (int i = 0; i < 5000; ++i) {
    spec.alternatives[1].request.exclude.push_back(absl::StrCat(std::string(250, 'n'), i));
  }
  EXPECT_THAT(std::string(Normalise(spec, SchedulerConfig()).status().message()),
              HasSubstr("at most 1048576 are allowed"));
}

TEST(RequestLimits, ANodeRunsSoManyTasks) {
  ResourceRequest request = Tasks(1'000'000);
  request.overcommit = true;
  request.min_nodes = 1;
  request.max_nodes = 1;
  JobSpec spec;
  spec.request = request;
  EXPECT_EQ(std::string(Normalise(spec, SchedulerConfig()).status().message()),
            "--ntasks: 1000000 tasks on 1 node; a node runs at most 65536");
  spec.request.tasks = kRanksPerNodeMax;
  EXPECT_TRUE(Normalise(spec, SchedulerConfig()).ok());
  spec.request.tasks = 0;
  spec.request.tasks_per_node = kRanksPerNodeMax + 1;
  EXPECT_THAT(std::string(Normalise(spec, SchedulerConfig()).status().message()),
              HasSubstr("--ntasks-per-node: 65537 is more than the limit of 65536"));
}

TEST(GraceLimit, MoreThanTheSiteGivesIsRefusedInWords) {
  World world;
  world.config.kill_grace_max = minutes(5);
  world.AddNode("n1");
  SubmitJob job;
  job.token = "one";
  job.spec = world.Spec(Tasks(1));
  job.spec.kill_grace = hours(24) * 36525;
  job.program = Script();
  EXPECT_EQ(std::string(world.Take(job).status.message()),
            "kill_grace: 36525-00:00:00 between SIGTERM and SIGKILL; this cluster gives at most "
            "0:05:00 (policy.kill_grace_max)");
  job.components = {Component{world.Spec(Tasks(1)), Script()}};
  EXPECT_THAT(std::string(world.Take(job).status.message()), HasSubstr("kill_grace"));
  job.components.clear();
  job.spec.kill_grace = minutes(5);
  EXPECT_TRUE(world.Take(job).status.ok());
}

TEST(GraceLimit, HoldsForJobsThatWereTakenBeforeItWasSet) {
  World world;
  world.config.kill_grace_max = hours(2);
  world.AddNode("n1");
  JobSpec spec = world.Spec(Tasks(1));
  spec.kill_grace = hours(1);
  const JobId job = world.Submit(spec);
  world.config.kill_grace_max = minutes(1);
  const JobSpec& taken = *world.state.FindJob(job)->spec;
  EXPECT_EQ(taken.kill_grace, hours(1));
  const SitePolicy& site = world.state.policy().site();
  for (const EndCause cause : {EndCause::kCancelled, EndCause::kPreempted, EndCause::kJobEnding}) {
    EXPECT_EQ(KillGraceOf(site, taken, cause, world.config), minutes(1));
  }
  JobUpdate changes;
  changes.comment = "x";
  EXPECT_TRUE(world.Take(UpdateJob{job, std::nullopt, changes, {}, world.ada}).status.ok());
  EXPECT_EQ(world.state.FindJob(job)->spec->kill_grace, minutes(1));
}

TEST(GraceLimit, TheSettingsOfAnOldJournalKnowNone) {
  SchedulerConfig old;
  old.kill_grace_max = Duration(0);
  EXPECT_EQ(WithinGrace(hours(5), old), hours(5));
  EXPECT_EQ(WithinGrace(seconds(30), SchedulerConfig()), seconds(30));
  EXPECT_EQ(WithinGrace(hours(5), SchedulerConfig()), minutes(10));
}

}  // namespace
}  // namespace muster::core
