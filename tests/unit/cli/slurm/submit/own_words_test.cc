// Slurm's command lines as options of ours.

#include "cli/slurm/submit/own_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

using Values = std::map<std::string, std::string>;

absl::StatusOr<Values> Read(const std::vector<std::string>& arguments, unsigned command = kSbatch) {
  const absl::StatusOr<Words> words = ReadWords(RowsOf(command), Operands::kLast, arguments);
  return words.ok() ? OwnValues(*words, command) : words.status();
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  return std::string(Read(arguments).status().message());
}

TEST(OwnWords, AnOptionBecomesOursAndTheLastCounts) {
  EXPECT_EQ(Read({"-n", "2", "--ntasks=4", "-t90:00", "--requeue", "--no-requeue"}).value(),
            (Values{{"ntasks", "4"}, {"time", "01:30:00"}, {"no-requeue", ""}}));
}

TEST(OwnWords, WhatIsRecordedIsOneLineEach) {
  EXPECT_EQ(Read({"--mail-type=END", "--contiguous", "--mail-user", "ada"}).value(),
            (Values{{"recorded", "mail-type=END\ncontiguous\nmail-user=ada"}}));
}

TEST(OwnWords, WhatIsRefusedIsRefusedInSlurmsWords) {
  EXPECT_EQ(ErrorOf({"--uid=5"}), "error: --uid only permitted by root user");
  EXPECT_EQ(ErrorOf({"--gres=gpu:1,gpu:a100:2"}),
            "error: Invalid generic resource (gres) specification");
  EXPECT_EQ(ErrorOf({"--mem=1", "--mem-per-cpu=1"}),
            "fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
}

TEST(OwnWords, EachCommandHasItsOwnOptions) {
  EXPECT_TRUE(Read({"--pty"}, kSrun).ok());
  EXPECT_FALSE(Read({"--pty"}).ok());
  EXPECT_EQ(Read({"-W", "5"}, kSrun).value(), (Values{{"wait", "5"}}));
  EXPECT_EQ(Read({"-W"}).value(), (Values{{"wait", ""}}));
}

TEST(OwnWords, OurRefusalsBecomeSlurmsLines) {
  const auto line = [](const char* message) {
    return SlurmLine(absl::InvalidArgumentError(message), kSbatch);
  };
  EXPECT_EQ(line("--ntasks: \"x\" is not a positive number"),
            "error: Invalid numeric value \"x\" for --ntasks.");
  EXPECT_EQ(line("job.sh:3: --time: \"abc\" is not a time limit"),
            "error: Invalid --time specification");
  EXPECT_EQ(line("job.sh:3: \"--foo\" is not an option: see muster submit --help"),
            "unrecognized option '--foo'");
  EXPECT_EQ(line("job.sh:3: \"bar\" is not an option: begin it with - or --"),
            "error: Invalid directive found in batch script: bar");
  EXPECT_EQ(line("fatal: as it is"), "fatal: as it is");
  EXPECT_EQ(SlurmLine(absl::UnavailableError("gone"), kSbatch),
            "error: Unable to contact slurm controller (connect failure)");
}

TEST(OwnWords, NoNodeIsWithoutATask) {
  std::map<std::string, std::string> values = {{"nodes", "2-4"}, {"ntasks", "1"}};
  EXPECT_EQ(FitNodes(&values), "Warning: can't run 1 processes on 2 nodes, setting nnodes to 1");
  EXPECT_EQ(values["nodes"], "1");
  EXPECT_EQ(FitNodes(&values), "");
  values = {{"nodes", "3"}};
  EXPECT_EQ(FitNodes(&values), "") << "a task on each";
  ResourceRequest request;
  request.min_nodes = request.max_nodes = 64;
  request.tasks = 2;
  EXPECT_NE(FitNodes(&request), "");
  EXPECT_EQ(request.max_nodes, 2U);
}

}  // namespace
}  // namespace muster::cli::slurm
