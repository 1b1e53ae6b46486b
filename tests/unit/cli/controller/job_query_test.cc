#include "cli/controller/query/job_query.h"

#include <gtest/gtest.h>

#include "cli/page/quantity.h"
#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

using samples::kNow;

std::string Since(const std::string& text) {
  const absl::StatusOr<Time> time = ParseSince(text, kNow, absl::UTCTimeZone());
  return time.ok() ? MomentText(*time, absl::UTCTimeZone()) : std::string(time.status().message());
}

std::vector<std::string> Labels(const std::vector<JobView>& jobs) {
  std::vector<std::string> labels;
  for (const JobView& job : jobs) {
    labels.push_back(job.label);
  }
  return labels;
}

std::vector<JobSelector> Selectors(const std::vector<std::string>& texts) {
  return *ParseSelectors(texts);
}

TEST(JobQuery, StatesAreNamesOrCodesInAnyCase) {
  EXPECT_EQ(*ParseStates("R,pending,oom"),
            (std::vector<std::string>{"RUNNING", "PENDING", "OUT_OF_MEMORY"}));
  EXPECT_EQ(ParseStates("R,,PD").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(ParseStates("R,sleepy").status().message()),
            "--states: \"sleepy\" is not a job's state: use names like PENDING or codes like PD");
}

TEST(JobQuery, AMomentInThePastHasManyForms) {
  EXPECT_EQ(Since("2026-03-01"), "2026-03-01 00:00:00");
  EXPECT_EQ(Since("2026-03-01T07:30"), "2026-03-01 07:30:00");
  EXPECT_EQ(Since("2026-03-01T07:30:15"), "2026-03-01 07:30:15");
  EXPECT_EQ(Since("today"), "2026-03-14 00:00:00");
  EXPECT_EQ(Since("yesterday"), "2026-03-13 00:00:00");
  EXPECT_EQ(Since("2h"), "2026-03-14 07:26:53");
  EXPECT_EQ(Since("now-90min"), "2026-03-14 07:56:53");
  EXPECT_EQ(Since("3days"), "2026-03-11 09:26:53");
  EXPECT_EQ(Since("09:00"), "2026-03-14 09:00:00");
  EXPECT_EQ(Since("10:00"), "2026-03-13 10:00:00");  // the last ten o'clock was yesterday's
}

TEST(JobQuery, WhatIsNoMomentIsRefused) {
  for (const char* text :
       {"", "2", "2 fortnights", "2026-02-30", "25:00", "now+1hour", "-3h", "2026",
        "99999999999999999999h", "soon", "3000-01-01", "222222222222019-01-01"}) {
    EXPECT_EQ(ParseSince(text, kNow, absl::UTCTimeZone()).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text << " gave " << Since(text);
  }
}

TEST(JobQuery, AMomentBeforeTheFirstIsNotTakenForNever) {
  EXPECT_NE(*ParseSince("1970-01-01", kNow, absl::UTCTimeZone()), kNoTime);
  EXPECT_GT(*ParseSince("1000000weeks", kNow, absl::UTCTimeZone()), kNoTime);
}

TEST(JobQuery, AnArraysNumberStandsForItsElements) {
  const std::vector<JobView> jobs = samples::QueueJobs();
  EXPECT_EQ(Select(jobs, {}).size(), jobs.size());
  EXPECT_EQ(Labels(Select(jobs, Selectors({"12"}))),
            (std::vector<std::string>{"12_3", "12_4", "12_5", "12_6", "12_9", "12_7"}));
  EXPECT_EQ(Labels(Select(jobs, Selectors({"12_[4-6]", "7"}))),
            (std::vector<std::string>{"7", "12_4", "12_5", "12_6"}));
  EXPECT_TRUE(Select(jobs, Selectors({"7_0"})).empty());
}

TEST(JobQuery, WhatWasNamedAndIsNotThereIsTold) {
  EXPECT_EQ(Missing(samples::QueueJobs(), Selectors({"7", "8", "12_1", "12_[1,2]", "12_[1,9]"})),
            (std::vector<std::string>{"8", "12_1", "12_[1-2]"}));
}

TEST(JobQuery, StateIsTheDirectoryUnlessItNamesJobStates) {
  const Environment environment;
  const std::vector<Verb> verbs;
  Invocation directory{environment, verbs, {{"state", "/tmp/muster"}}, {}};
  const absl::StatusOr<JobQuery> all = ReadJobQuery(directory);
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->filter.states.empty());
  EXPECT_EQ(directory.Value("state"), "/tmp/muster");

  Invocation states{environment, verbs, {{"state", "PD,R"}, {"user", "bob"}}, {"12_3", "7"}};
  const absl::StatusOr<JobQuery> some = ReadJobQuery(states);
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->filter.states, (std::vector<std::string>{"PENDING", "RUNNING"}));
  EXPECT_EQ(some->filter.user, "bob");
  EXPECT_EQ(some->filter.jobs, (std::vector<JobId>{JobId(12), JobId(7)}));
  EXPECT_FALSE(states.Has("state"));

  Invocation both{environment, verbs, {{"state", "/tmp/muster"}, {"states", "nope"}}, {}};
  EXPECT_EQ(ReadJobQuery(both).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace muster::cli
