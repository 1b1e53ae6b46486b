#include "agent/kernels/harness/choice_search.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace muster::kernels {
namespace {

constexpr double kPlenty = 3600;

// A run that takes so long by each choice; 0: its result is wrong.
std::function<std::optional<double>(size_t)> Taking(std::vector<double> seconds) {
  return [seconds = std::move(seconds)](size_t choice) {
    return seconds.at(choice) > 0 ? std::optional(seconds.at(choice)) : std::nullopt;
  };
}

TEST(ChoiceSearchTest, TheFastestIsFound) {
  const ChoiceSearch search = SearchChoices(0, 4, kPlenty, Taking({4, 3, 1, 2}));
  EXPECT_EQ(search.best, 2U);
  EXPECT_EQ(search.seconds, 1);
  EXPECT_EQ(search.first_seconds, 4);
  EXPECT_EQ(search.tried, 4);
}

TEST(ChoiceSearchTest, AWrongResultIsOutWhateverItsSpeed) {
  const ChoiceSearch search = SearchChoices(0, 3, kPlenty, Taking({4, 0, 3}));
  EXPECT_EQ(search.best, 2U);
  EXPECT_EQ(search.rejected, 1);
}

TEST(ChoiceSearchTest, WhatIsHardlyFasterIsNotTaken) {
  const ChoiceSearch search = SearchChoices(0, 2, kPlenty, Taking({1, 0.99}));
  EXPECT_EQ(search.best, 0U);
  EXPECT_EQ(search.seconds, 1);
}

TEST(ChoiceSearchTest, WithoutABudgetTheRuleStands) {
  const ChoiceSearch search = SearchChoices(0, 3, 0, Taking({4, 1, 1}));
  EXPECT_EQ(search.best, 0U);
  EXPECT_EQ(search.tried, 1);
}

TEST(ChoiceSearchTest, TheRuleMayBeAnyOfThem) {
  EXPECT_EQ(SearchChoices(2, 3, 0, Taking({1, 1, 4})).best, 2U);
  const ChoiceSearch search = SearchChoices(1, 3, kPlenty, Taking({2, 4, 3}));
  EXPECT_EQ(search.best, 0U);
  EXPECT_EQ(search.first_seconds, 4);
}

TEST(ChoiceSearchTest, WhatWasFastByChanceIsNotTaken) {
  std::map<size_t, int> runs;
  const ChoiceSearch search = SearchChoices(0, 2, kPlenty, [&](size_t choice) {
    const bool lucky = choice == 1 && runs[choice]++ == 0;
    return std::optional(lucky ? 0.1 : 1.0);
  });
  EXPECT_EQ(search.best, 0U);
}

}  // namespace
}  // namespace muster::kernels
