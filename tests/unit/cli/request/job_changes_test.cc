// What an update asks to change of jobs.

#include "cli/request/job_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<JobUpdate> Read(const std::map<std::string, std::string>& values) {
  return ReadJobChanges(values,
                        {.now = Time(Duration(1'773'480'413'000)), .zone = absl::UTCTimeZone()});
}

TEST(JobChanges, AnOptionOfARequestIsNamedWithItsValue) {
  const JobUpdate changes = *Read({{"partition", "a,b"}, {"mem-per-cpu", "2G"}, {"nodes", "2-4"}});
  EXPECT_THAT(changes.options, ElementsAre("mem", "nodes", "partition"));
  EXPECT_EQ(changes.asked->partition, "a,b");
  EXPECT_EQ(changes.asked->request.memory_per_cpu, kGibibyte * 2);
  EXPECT_EQ(changes.asked->request.max_nodes, 4U);
}

TEST(JobChanges, WhatHasAMemberOfItsOwnStandsThere) {
  const JobUpdate changes = *Read({{"nice", "7"}, {"dependency", "none"}, {"comment", ""}});
  EXPECT_EQ(changes.nice, 7);
  EXPECT_EQ(changes.comment, "");
  EXPECT_TRUE(changes.dependency->terms.empty());
  EXPECT_TRUE(changes.options.empty());
  EXPECT_FALSE(changes.asked.has_value());
}

TEST(JobChanges, AnEmptyValueTakesAwayWhatTheOptionGave) {
  const JobUpdate changes = *Read({{"constraint", ""}, {"gres", ""}, {"exclusive", "no"}});
  EXPECT_THAT(changes.options, ElementsAre("constraint", "exclusive", "gpus", "gres"));
  EXPECT_EQ(changes.asked->request, ResourceRequest());
}

TEST(JobChanges, GresSaysGpusOrOtherThings) {
  EXPECT_THAT(Read({{"gres", "gpu:2"}})->options, ElementsAre("gpus"));
  EXPECT_THAT(Read({{"gres", "scratch:2"}})->options, ElementsAre("gres"));
  const JobUpdate both = *Read({{"gres", "gpu:a100:2,scratch"}});
  EXPECT_THAT(both.options, ElementsAre("gpus", "gres"));
  EXPECT_EQ(both.asked->request.gpus_per_node.count, 2U);
  EXPECT_EQ(both.asked->request.gres, (GresList{{"scratch", 1}}));
}

TEST(JobChanges, AThrottleIsOfAnArrayThatIsThere) {
  const JobUpdate changes = *Read({{"array-throttle", "3"}});
  EXPECT_EQ(changes.asked->array->max_running, 3U);
  EXPECT_THAT(std::string(Read({{"array-throttle", "x"}}).status().message()),
              HasSubstr("--array-throttle: "));
}

TEST(JobChanges, PathsOfTheProgramAreNamedByTheirOptions) {
  const JobUpdate changes = *Read({{"output", "night-%j.out"}, {"chdir", "/data"}});
  EXPECT_THAT(changes.options, ElementsAre("paths"));
  EXPECT_THAT(changes.asked->paths,
              ElementsAre(ChangedPath{"chdir", "/data"}, ChangedPath{"output", "night-%j.out"}));
}

TEST(JobChanges, NothingToChangeAndABadValueAreRefused) {
  EXPECT_THAT(std::string(Read({{"wrap", "x"}}).status().message()),
              HasSubstr("nothing to change"));
  EXPECT_THAT(std::string(Read({{"mem", "lots"}}).status().message()), HasSubstr("--mem: "));
}

TEST(JobChanges, EveryOptionThatIsListedIsRead) {
  for (const Option& option : ChangeOptions()) {
    const std::string name = option.name;
    const absl::StatusOr<JobUpdate> changes = Read({{name, name == "array-throttle" ? "1" : ""}});
    EXPECT_TRUE(changes.ok() || name == "job-name") << name << ": " << changes.status();
  }
}

}  // namespace
}  // namespace muster::cli
