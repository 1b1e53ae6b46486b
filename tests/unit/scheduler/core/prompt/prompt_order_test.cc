#include "scheduler/core/prompt/prompt_order.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "tests/unit/scheduler/core/many_cases.h"

namespace muster::core {
namespace {

TEST(PromptOrder, TheKeyIsTheSubmissionAndTheStretchedEstimate) {
  const PromptRules rules{
      .stretch_permille = 2500, .patience = 100, .backlog_permille = 500, .slack = 60};
  EXPECT_EQ(PromptKey(rules, 1000, 40), 1100);
  EXPECT_EQ(PromptKey(rules, -1000, 40), -900);
  EXPECT_EQ(PatienceAt(rules, 0), 100);
  EXPECT_EQ(PatienceAt(rules, 50), 125);
  EXPECT_EQ(PromiseOf(rules, 7), 67);
}

TEST(PromptOrder, NoJobSubmittedAfterAJobsKeyGoesBeforeIt) {
  testing::HoldsInManyCases([] {
    PromptRules rules;
    rules.stretch_permille = *rc::gen::inRange<std::int64_t>(0, 100'000);
    const auto submit = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000'000);
    const auto estimate = *rc::gen::inRange<std::int64_t>(1, 100'000'000);
    const std::int64_t key = PromptKey(rules, submit, estimate);
    const auto later = key + *rc::gen::inRange<std::int64_t>(0, 1'000'000);
    const auto its_estimate = *rc::gen::inRange<std::int64_t>(1, 100'000'000);
    RC_ASSERT(PromptKey(rules, later, its_estimate) >= key);
  });
}

TEST(PromptOrder, NoInputOverflows) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const PromptRules rules;
  EXPECT_GT(PromptKey(rules, most, most), 0);
  EXPECT_LT(PromptKey(rules, -most, 1), 0);
  EXPECT_GE(PatienceAt(rules, most), rules.patience);
  EXPECT_EQ(PatienceAt(rules, -5), rules.patience);
}

}  // namespace
}  // namespace muster::core
