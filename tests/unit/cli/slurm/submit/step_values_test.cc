// What srun asks for inside a job.

#include "cli/slurm/submit/step_values.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/request/slurm_option_table.h"

namespace muster::cli::slurm {
namespace {

using Values = std::map<std::string, std::string>;

const Environment kTwoNodes(std::vector<std::string>{"SLURM_NNODES=2", "SLURM_JOB_ID=7",
                                                     "SLURM_JOB_NODELIST=n[1-3]"});

Values Step(const Values& values, const Environment& environment = kTwoNodes) {
  return StepValues(values, environment, /*launcher=*/false).value();
}

TEST(StepValues, TasksFollowFromNodesAndFromTasksOnEach) {
  EXPECT_EQ(Step({{"nodes", "1"}}), (Values{{"nodes", "1"}, {"ntasks", "1"}}));
  EXPECT_EQ(Step({{"nodes", "2-4"}, {"ntasks-per-node", "3"}}),
            (Values{{"nodes", "2-4"}, {"ntasks", "6"}}));
  EXPECT_EQ(Step({{"ntasks-per-node", "3"}}), (Values{{"ntasks", "6"}}));
  EXPECT_EQ(Step({}), Values{}) << "as the job";
  const Environment said(std::vector<std::string>{"SLURM_NTASKS=4"});
  EXPECT_EQ(Step({{"nodes", "1"}}, said), (Values{{"nodes", "1"}, {"ntasks", "4"}}));
  EXPECT_EQ(Step({{"ntasks", "2"}}, said), (Values{{"ntasks", "2"}}));
}

TEST(StepValues, WhatOnlyAJobCanAskForFallsAway) {
  EXPECT_EQ(Step({{"time", "00:10:00"}, {"account", "a"}, {"recorded", "x"}, {"label", ""}}),
            (Values{{"label", ""}}));
}

TEST(StepValues, ExcludedNodesLeaveTheJobsOthers) {
  EXPECT_EQ(Step({{"exclude", "n2"}}), (Values{{"nodelist", "n1,n3"}}));
  EXPECT_FALSE(StepValues({{"exclude", "n[1-3]"}}, kTwoNodes, false).ok());
}

TEST(StepValues, RelativeNodesAreTheJobsFromThatOneOn) {
  EXPECT_EQ(Step({{"relative", "1"}}), (Values{{"nodelist", "n2,n3"}}));
  EXPECT_EQ(Step({{"relative", "1"}, {"nodes", "1"}, {"ntasks", "1"}}),
            (Values{{"nodelist", "n2"}, {"nodes", "1"}, {"ntasks", "1"}}));
  EXPECT_FALSE(StepValues({{"relative", "3"}}, kTwoNodes, false).ok());
  EXPECT_FALSE(StepValues({{"relative", "2"}, {"nodes", "2"}}, kTwoNodes, false).ok());
}

TEST(StepValues, GpusOfEachNodeAreGpusOfTheStep) {
  EXPECT_EQ(Step({{"gpus-per-node", "2"}, {"nodes", "2"}, {"ntasks", "2"}}),
            (Values{{"gpus", "4"}, {"nodes", "2"}, {"ntasks", "2"}}));
  EXPECT_EQ(Step({{"gres", "gpu:a100:1"}, {"ntasks", "1"}}),
            (Values{{"gpus", "a100:1"}, {"ntasks", "1"}}));
}

TEST(StepValues, ALauncherSharesWhatTheJobHas) {
  EXPECT_TRUE(IsLauncher("/usr/bin/orted"));
  EXPECT_TRUE(IsLauncher("hydra_pmi_proxy"));
  EXPECT_FALSE(IsLauncher("/usr/bin/ordinary"));
  EXPECT_EQ(
      StepValues({{"ntasks", "2"}, {"cpus-per-task", "4"}, {"mem", "1G"}}, kTwoNodes, true).value(),
      (Values{{"ntasks", "2"}, {"overlap", ""}, {"cpu-bind", "none"}, {"mpi", "none"}}));
}

TEST(StepValues, TheJobIsTheOneThatSlurmsNameSays) {
  const auto job = [](std::vector<std::string> entries, const std::string& named) {
    return InJob(Environment(std::move(entries)), named).Get("MUSTER_JOB_ID");
  };
  EXPECT_EQ(job({"MUSTER_JOB_ID=7", "SLURM_JOB_ID=8"}, ""), "8");
  EXPECT_EQ(job({"MUSTER_JOB_ID=7", "SLURM_JOB_ID=8"}, "9"), "9");
  EXPECT_EQ(job({"SLURM_JOBID=8"}, ""), "8");
  EXPECT_EQ(job({"MUSTER_JOB_ID=7"}, ""), "") << "who unsets Slurm's name wants a new job";
}

// "export=ALL label"
std::string Said(std::vector<std::string> entries, bool in_job) {
  std::string text;
  for (const GivenWord& word : WordsOfVariables(Environment(std::move(entries)), in_job)) {
    absl::StrAppend(&text, text.empty() ? "" : " ", word.name, word.has_value ? "=" : "",
                    word.value);
  }
  return text;
}

TEST(StepValues, TheEnvironmentGivesOptions) {
  EXPECT_EQ(Said({"SLURM_OPEN_MODE=a", "SLURM_EXPORT_ENV=ALL", "SLURM_KILL_BAD_EXIT=1",
                  "SLURM_LABELIO=1", "SLURM_WAIT=5", "SRUN_CPUS_PER_TASK=2"},
                 true),
            "export=ALL kill-on-bad-exit label open-mode=a wait=5 cpus-per-task=2");
  EXPECT_EQ(Said({"SLURM_LABELIO=0", "SLURM_OVERLAP=no", "SLURM_EXCLUSIVE=yes"}, true),
            "exclusive");
}

TEST(StepValues, WhatAJobsOwnVariablesSayOfItCountsOnlyOutside) {
  const std::vector<std::string> entries = {"SLURM_NTASKS=4", "SLURM_MEM_PER_NODE=100",
                                            "SLURM_JOB_NAME=night", "SLURM_GPUS=2",
                                            "SLURM_CPUS_PER_TASK=8"};
  EXPECT_EQ(Said(entries, true), "");
  EXPECT_EQ(Said(entries, false), "gpus=2 job-name=night mem=100 ntasks=4");
}

TEST(StepValues, HowATaskIsBoundSaysNothingOfTasksThatItStarts) {
  EXPECT_EQ(Said({"SLURM_CPU_BIND=quiet,mask_cpu:0x1", "SLURM_STEP_ID=0"}, true), "");
  EXPECT_EQ(Said({"SLURM_CPU_BIND=none", "SLURM_STEP_ID=0"}, true), "cpu-bind=none");
  EXPECT_EQ(Said({"SLURM_CPU_BIND=cores"}, true), "cpu-bind=cores");
}

TEST(StepValues, EveryVariableNamesAnOptionOfSrun) {
  for (const SrunVariable& variable : SrunVariables()) {
    const SlurmOption* option = FindSlurmOption(variable.option, kSrun);
    ASSERT_NE(option, nullptr) << variable.name;
    EXPECT_STREQ(option->name, variable.option);
  }
}

}  // namespace
}  // namespace muster::cli::slurm
