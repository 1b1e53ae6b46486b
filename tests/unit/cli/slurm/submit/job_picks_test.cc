// The jobs that scancel means.

#include "cli/slurm/submit/job_picks.h"

#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

constexpr Row kRows[] = {{"account", 'A', Takes::kValue},   {"me", 0, Takes::kNothing},
                         {"name", 'n', Takes::kValue},      {"nodelist", 'w', Takes::kValue},
                         {"partition", 'p', Takes::kValue}, {"state", 't', Takes::kValue},
                         {"user", 'u', Takes::kValue}};

absl::StatusOr<JobChoice> Read(const std::vector<std::string>& arguments) {
  return ReadPicks(ReadWords(kRows, Operands::kAnywhere, arguments).value(), "ada");
}

JobView Job() {
  JobView job;
  job.user = "ada";
  job.name = "train";
  job.account = "physics";
  job.partition = "short,long";
  job.state = "RUNNING";
  job.nodes = {"n1", "n2"};
  return job;
}

TEST(JobPicks, NoSelectorMeansEveryJob) {
  const JobChoice picks = Read({}).value();
  EXPECT_FALSE(Selects(picks));
  EXPECT_TRUE(Chooses(picks, Job()));
}

TEST(JobPicks, AListIsMetByAnyOfItsNamesAndAllListsMustBe) {
  EXPECT_TRUE(Chooses(*Read({"-n", "a,train", "-p", "long", "--me"}), Job()));
  EXPECT_TRUE(Chooses(*Read({"-n", "a", "-n", "train"}), Job()));
  EXPECT_FALSE(Chooses(*Read({"-n", "train", "-A", "chemistry"}), Job()));
  EXPECT_FALSE(Chooses(*Read({"-u", "bob"}), Job()));
  EXPECT_TRUE(Chooses(*Read({"-w", "n[2-5]"}), Job()));
  EXPECT_FALSE(Chooses(*Read({"-w", "n3"}), Job()));
}

TEST(JobPicks, StatesAreThoseThatCanBeEnded) {
  for (const char* state : {"RUNNING", "r", "run"}) {
    EXPECT_TRUE(Chooses(*Read({"-t", state}), Job())) << state;
  }
  EXPECT_FALSE(Chooses(*Read({"-t", "PD,suspended"}), Job()));
  EXPECT_EQ(
      Read({"-t", "FOO"}).status().message(),
      "Invalid job state specified: FOO: Valid job states are PENDING, RUNNING, and SUSPENDED");
}

}  // namespace
}  // namespace muster::cli::slurm
