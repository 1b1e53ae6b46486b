#include "scheduler/core/explain/slower_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>

namespace muster::core {
namespace {

using std::chrono::seconds;

// Runs of that many seconds, jobs 1, 2, …
std::vector<FinishedRun> Runs(const std::vector<int>& times) {
  std::vector<FinishedRun> runs;
  for (const int time : times) {
    runs.push_back({JobId(runs.size() + 1), seconds(time), {"git.commit=a1"}, {"n1"}});
  }
  return runs;
}

TEST(SlowerRuns, ThreeInARowAreSaidWithWhatTheyAreComparedWith) {
  const auto slower = FindSlowerRuns(Runs({300, 310, 290, 300, 345, 350, 400}));
  ASSERT_TRUE(slower.has_value());
  EXPECT_EQ(slower->in_a_row, 3U);
  EXPECT_EQ(slower->before, JobId(4));
  EXPECT_EQ(slower->first, JobId(5));
  EXPECT_EQ(slower->median, seconds(300));
  EXPECT_EQ(slower->fall, 25U);
}

TEST(SlowerRuns, TwoInARowOrOneThatIsAsFastAsBeforeSayNothing) {
  EXPECT_FALSE(FindSlowerRuns(Runs({300, 300, 300, 300, 400, 400})).has_value());
  EXPECT_FALSE(FindSlowerRuns(Runs({300, 300, 300, 400, 400, 300})).has_value());
  EXPECT_FALSE(FindSlowerRuns(Runs({300, 300, 300, 400, 300, 400})).has_value());
  EXPECT_FALSE(FindSlowerRuns(Runs({300, 300, 300, 315, 315, 315})).has_value()) << "5 % and less";
  EXPECT_TRUE(FindSlowerRuns(Runs({300, 300, 300, 316, 316, 316})).has_value());
}

TEST(SlowerRuns, TooFewBeforeOrTooShortOnesSayNothing) {
  EXPECT_FALSE(FindSlowerRuns({}).has_value());
  EXPECT_FALSE(FindSlowerRuns(Runs({300, 300, 400, 400, 400})).has_value());
  std::vector<FinishedRun> shorts = Runs({1, 1, 1, 1, 1, 1});
  for (std::size_t i = 3; i < shorts.size(); ++i) {
    shorts[i].ran = Duration(1'900);
  }
  EXPECT_FALSE(FindSlowerRuns(shorts).has_value()) << "less than a second longer";
}

TEST(SlowerRuns, ThoseInARowAreCountedFromTheFirst) {
  const auto slower = FindSlowerRuns(Runs({300, 300, 300, 300, 400, 410, 400, 420, 400}));
  ASSERT_TRUE(slower.has_value());
  EXPECT_EQ(slower->in_a_row, 5U);
  EXPECT_EQ(slower->first, JobId(5));
}

TEST(SlowerRuns, WhereARunKeepsItsCheckpointsIsNoCause) {
  std::vector<FinishedRun> runs = Runs({300, 300, 300, 400, 400, 400});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].record.insert(runs[i].record.begin(),
                          "checkpoint.directory=/state/" + std::to_string(i));
  }
  EXPECT_EQ(FindSlowerRuns(runs)->name, "");
}

TEST(SlowerRuns, WhatWasDifferentIsNamed) {
  std::vector<FinishedRun> runs = Runs({300, 300, 300, 400, 400, 400});
  EXPECT_THAT(ToSentence(*FindSlowerRuns(runs)),
              ::testing::HasSubstr("3 times in a row since job 4; nothing that is recorded differs "
                                   "from job 3"));
  runs[3].nodes = {"n2"};
  EXPECT_EQ(FindSlowerRuns(runs)->name, "nodes");
  runs[3].record = {"git.commit=b2", "modules=gcc"};
  EXPECT_THAT(ToSentence(*FindSlowerRuns(runs)),
              ::testing::HasSubstr("; git.commit was a1, is b2: muster diff 3 4"));
  runs[3].record = {"environment=7f", "git.commit=a1", "modules=gcc"};
  EXPECT_THAT(ToSentence(*FindSlowerRuns(runs)),
              ::testing::HasSubstr("; modules was not there, is gcc"));
}

RC_GTEST_PROP(SlowerRunsProperty, WhatIsSaidIsTrueOfTheRuns, ()) {
  const auto times = *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 200));
  const std::vector<FinishedRun> runs = Runs(times);
  const auto slower = FindSlowerRuns(runs);
  if (!slower.has_value()) {
    return;
  }
  RC_ASSERT(slower->in_a_row >= kInARow);
  RC_ASSERT(runs.size() >= slower->in_a_row + kBaseLeast);
  for (std::size_t i = runs.size() - slower->in_a_row; i < runs.size(); ++i) {
    RC_ASSERT(runs[i].ran.count() * 95 > slower->median.count() * 100);
  }
}

}  // namespace
}  // namespace muster::core
