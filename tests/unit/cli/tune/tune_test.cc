// The search for better settings, on a part of a log of the Parallel Workloads Archive.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "cli/tune/tune_frontier.h"
#include "cli/tune/tune_report.h"
#include "cli/tune/tune_results.h"
#include "cli/tune/tune_search.h"
#include "cli/tune/tune_settings.h"
#include "cli/tune/tune_trial.h"
#include "cli/tune/tune_workload.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

const std::string kLog = MUSTER_FIXTURES "/traces/kth_sp2.swf.xz";

TuneWorkload Days(std::int64_t days) {
  absl::StatusOr<TuneWorkload> workload =
      WorkloadOfTrace({.path = kLog, .format = std::nullopt}, days, 100);
  EXPECT_TRUE(workload.ok()) << workload.status();
  return *std::move(workload);
}

std::unique_ptr<TuneResults> InMemory() {
  return *TuneResults::Open("", 0);
}

TuneFound Find(const TuneWorkload& workload, TuneOptions options, TuneResults& results) {
  std::atomic<bool> stop = false;
  options.rounds = 1;
  absl::StatusOr<TuneFound> found =
      Search(workload, LivePolicies().front(), options, stop, results, [](double, std::size_t) {});
  EXPECT_TRUE(found.ok()) << found.status();
  return *std::move(found);
}

TEST(Tune, TheLastDaysAreCutInTwoPartsByJobs) {
  const TuneWorkload workload = Days(30);
  EXPECT_GE(workload.first, workload.last - 30 * 86'400);
  std::atomic<bool> stop = false;
  std::vector<sim::JobOutcome> outcomes;
  const absl::StatusOr<TuneTrial> trial =
      RunTrial(workload, LivePolicies().front(), stop, &outcomes);
  ASSERT_TRUE(trial.ok()) << trial.status();
  EXPECT_EQ(trial->train.jobs + trial->test.jobs, workload.jobs);
  EXPECT_EQ(outcomes.size(), trial->test.jobs);
  EXPECT_NEAR(static_cast<double>(trial->train.jobs), static_cast<double>(workload.jobs) * 2 / 3,
              10);
  EXPECT_GE(trial->all.longest, trial->all.p99);
}

TEST(Tune, ANeighbourDiffersInOneParameter) {
  const TuneSettings prompt = LivePolicies().front();
  std::size_t count = 0;
  for (std::size_t parameter = 0; parameter < kTuneParameters; ++parameter) {
    for (const TuneSettings& other : Neighbours(prompt, parameter)) {
      EXPECT_NE(KeyOf(other), KeyOf(prompt));
      ++count;
    }
  }
  EXPECT_GE(count, NeighboursInAll()) << "the default may stand between the values";
}

TEST(Tune, TheChoiceDoesNotHangOnTheNumberOfThreads) {
  const TuneWorkload workload = Days(20);
  const auto one = InMemory();
  const auto four = InMemory();
  const TuneFound alone = Find(workload, {.threads = 1}, *one);
  const TuneFound together = Find(workload, {.threads = 4}, *four);
  EXPECT_EQ(KeyOf(alone.best.settings), KeyOf(together.best.settings));
  EXPECT_EQ(alone.best.trial.test.slowdown, together.best.trial.test.slowdown);
  EXPECT_LE(alone.best.trial.train.slowdown, alone.current.trial.train.slowdown);
}

TEST(Tune, AStoppedSearchGoesOnWithItsResults) {
  const TuneWorkload workload = Days(20);
  const std::string path = ::testing::TempDir() + "tune_results_test.jsonl";
  std::remove(path.c_str());
  TuneFound first;
  {
    const auto results = TuneResults::Open(path, workload.print);
    ASSERT_TRUE(results.ok()) << results.status();
    first = Find(workload, {}, **results);
  }
  std::ofstream(path, std::ios::app) << "{\"workload\": 7, \"broken";
  const auto again = TuneResults::Open(path, workload.print);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_GT((*again)->found(), 20U);
  std::atomic<bool> stop = true;  // a simulation would be cancelled
  const absl::StatusOr<TuneFound> second = Search(workload, LivePolicies().front(), {.rounds = 1},
                                                  stop, **again, [](double, std::size_t) {});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(KeyOf(second->best.settings), KeyOf(first.best.settings));
  EXPECT_EQ((*TuneResults::Open(path, workload.print + 1))->found(), 0U) << "other jobs";
  std::remove(path.c_str());
}

TEST(Tune, WhereNothingBeatsWhatIsThereItSaysSo) {
  TuneOutcome outcome;
  outcome.found.current = {LivePolicies().front(), {}, true};
  outcome.found.best = outcome.found.current;
  EXPECT_FALSE(IsWorthIt(outcome, TuneGoal::kSlowdown));
  const TuneWorkload workload = Days(20);
  EXPECT_THAT(PrintTune(workload, {}, outcome, Style()), HasSubstr("beats what is there"));
  outcome.found.best.settings = LivePolicies().back();
  outcome.found.best.trial.test.slowdown = 5;
  outcome.found.current.trial.test.slowdown = 6;
  outcome.comparison.overall.slowdown = {.mean = -1, .low = -3, .high = 1, .known = true};
  EXPECT_FALSE(IsWorthIt(outcome, TuneGoal::kSlowdown)) << "it may be chance";
  outcome.comparison.overall.slowdown = {.mean = -1, .low = -3, .high = -0.5, .known = true};
  EXPECT_TRUE(IsWorthIt(outcome, TuneGoal::kSlowdown));
  EXPECT_THAT(TuneFile(workload, {}, outcome), HasSubstr("backfill = \"none\""));
  EXPECT_THAT(TuneDocument(workload, {}, outcome), HasSubstr("\"worth_it\": true"));
}

TEST(Tune, TheFrontierIsOnePicture) {
  const TuneWorkload workload = Days(20);
  std::atomic<bool> stop = false;
  const auto results = InMemory();
  const auto points = RunFrontier(workload, LivePolicies().front(), 2, stop, *results);
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ(points->size(), 15U);
  const std::string svg = FrontierSvg("a log", *points);
  EXPECT_THAT(svg, HasSubstr("no promise"));
  EXPECT_THAT(svg, HasSubstr("easy-sjbf"));
  EXPECT_THAT(svg, ::testing::EndsWith("</svg>\n"));
}

TEST(Tune, TooFewJobsAreRefusedInOneLine) {
  const auto workload = WorkloadOfTrace(
      {.path = MUSTER_FIXTURES "/traces/tiresias.csv", .format = std::nullopt}, 0, 16);
  ASSERT_FALSE(workload.ok());
  EXPECT_THAT(std::string(workload.status().message()), HasSubstr("at least 100 are needed"));
}

}  // namespace
}  // namespace muster::cli
