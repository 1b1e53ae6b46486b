#include "cli/job_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/parse/time_limit.h"

namespace muster {
namespace {

using testing::StartsWith;

const Moment kMoment{.now = Time(std::chrono::milliseconds(1'773'480'413'000)),
                     .zone = absl::UTCTimeZone()};

absl::StatusOr<JobRequest> Read(const std::map<std::string, std::string>& values,
                                const std::string& script = "") {
  const auto lines = ParseDirectives(script);
  const auto given = ReadDirectives(*lines, "job.sh");
  if (!given.ok()) {
    return given.status();
  }
  return ReadJobOptions(values, *given, JobVerb::kSubmit, kMoment);
}

std::string Error(const std::map<std::string, std::string>& values,
                  const std::string& script = "") {
  const auto request = Read(values, script);
  EXPECT_TRUE(absl::IsInvalidArgument(request.status())) << request.status();
  return std::string(request.status().message());
}

TEST(JobOptions, FillTheSpec) {
  const JobRequest request = Read({{"nodes", "2-4"},
                                   {"ntasks", "8"},
                                   {"cpus-per-task", "3"},
                                   {"mem", "4G"},
                                   {"gpus-per-node", "h100:2"},
                                   {"time", "1:00:00"},
                                   {"array", "0-9%2"},
                                   {"hold", ""},
                                   {"exclusive", ""},
                                   {"nice", "5"},
                                   {"begin", "now+1minute"},
                                   {"output", "out-%j"},
                                   {"open-mode", "append"},
                                   {"mpi", "none"},
                                   {"job-name", "Grüße"}})
                                 .value();
  EXPECT_EQ(request.spec.request.min_nodes, 2U);
  EXPECT_EQ(request.spec.request.max_nodes, 4U);
  EXPECT_EQ(request.spec.request.tasks, 8U);
  EXPECT_EQ(request.spec.request.cpus_per_task, 3U);
  EXPECT_EQ(request.spec.request.memory_per_node, kGibibyte * 4);
  EXPECT_EQ(request.spec.request.gpus_per_node, (GpuRequest{"h100", 2}));
  EXPECT_TRUE(request.spec.request.exclusive);
  EXPECT_EQ(request.spec.time_limit, std::chrono::hours(1));
  EXPECT_EQ(request.spec.array->max_running, 2U);
  EXPECT_TRUE(request.spec.held);
  EXPECT_EQ(request.spec.nice, 5);
  EXPECT_EQ(request.spec.begin, kMoment.now + std::chrono::minutes(1));
  EXPECT_EQ(request.program.stdout_path, "out-%j");
  EXPECT_TRUE(request.program.append_output);
  EXPECT_EQ(request.program.mpi, MpiFlavour::kNone);
  EXPECT_EQ(request.spec.name, "Grüße");
}

TEST(JobOptions, TheCommandLineWinsOverDirectives) {
  const JobRequest request =
      Read({{"ntasks", "1"}}, "#SBATCH -n 4 -J first\n#MUSTER -J second -Hc2\n").value();
  EXPECT_EQ(request.spec.request.tasks, 1U);
  EXPECT_EQ(request.spec.request.cpus_per_task, 2U);
  EXPECT_EQ(request.spec.name, "second");
  EXPECT_TRUE(request.spec.held);
}

TEST(JobOptions, AnOverriddenDirectiveIsNotEvenChecked) {
  EXPECT_TRUE(Read({{"mem-per-cpu", "1G"}}, "#SBATCH --mem=4G\n")
                  .value()
                  .spec.request.memory_per_node.zero())
      << "--mem-per-cpu replaces a directive's --mem";
}

TEST(JobOptions, ErrorsSayWhere) {
  EXPECT_THAT(Error({{"mem", "10Q"}}), StartsWith("--mem: \"10Q\" is not a size"));
  EXPECT_THAT(Error({}, "#!/bin/sh\n#SBATCH --mem=10Q\n"),
              StartsWith("job.sh:2: --mem: \"10Q\" is not a size"));
  EXPECT_THAT(Error({}, "#!/bin/sh\n\n#SBATCH --frobnicate=1\n"),
              StartsWith("job.sh:3: \"--frobnicate=1\" is not an option"));
  EXPECT_THAT(Error({}, "#SBATCH -n\n"), StartsWith("job.sh:1: --ntasks: needs a value"));
  EXPECT_THAT(Error({}, "#SBATCH --hold=yes\n"), StartsWith("job.sh:1: --hold: takes no value"));
  EXPECT_THAT(Error({}, "#SBATCH 4\n"), StartsWith("job.sh:1: \"4\" is not an option"));
  EXPECT_EQ(Error({{"mem", "1G"}, {"mem-per-cpu", "1G"}}),
            "--mem and --mem-per-cpu exclude each other: give one");
}

TEST(JobOptions, WhatThisVersionLacksIsRefusedByName) {
  EXPECT_EQ(Error({{"dependency", "afterok:3"}}), "--dependency: not in this version");
  EXPECT_EQ(Error({}, "#SBATCH -C gpu\n"), "job.sh:1: --constraint: not in this version");
  EXPECT_THAT(Error({{"partition", "debug"}}), StartsWith("--partition: \"debug\" does not exist"));
  EXPECT_TRUE(Read({{"partition", "main"}, {"requeue", ""}, {"no-requeue", ""}}).ok());
}

TEST(JobOptions, NamesAreCheckedText) {
  EXPECT_THAT(Error({{"job-name", std::string(1 << 20, 'a')}}), StartsWith("--job-name: \"aaa"));
  EXPECT_LT(Error({{"job-name", std::string(1 << 20, 'a')}}).size(), 200U);
  EXPECT_FALSE(Read({{"job-name", std::string("a\0b", 3)}}).ok());
  EXPECT_FALSE(Read({{"job-name", "a\nb"}}).ok());
  EXPECT_FALSE(Read({{"output", ""}}).ok());
}

TEST(JobOptions, EveryLetterAndNameIsUnique) {
  for (const JobVerb verb : {JobVerb::kSubmit, JobVerb::kRun}) {
    std::map<std::string, int> seen;
    for (const Option& option : JobOptions(verb)) {
      EXPECT_EQ(++seen["--" + option.name], 1) << option.name;
      if (option.letter != 0) {
        EXPECT_EQ(++seen[std::string("-") + option.letter], 1) << option.letter;
      }
    }
  }
}

}  // namespace
}  // namespace muster
