#include "scheduler/core/place/estimate/run_cost.h"

#include <gtest/gtest.h>

namespace muster::core {
namespace {

constexpr double kDay = 86'400;

// Narayanan et al., section 5.1: 175 billion parameters and 300 billion tokens on 1024 GPUs with
// 140 teraFLOP/s each take 34 days; 1 trillion and 450 billion on 3072 with 163 take 84.
TEST(RunCost, TrainingTakesAsLongAsMegatronsAuthorsSay) {
  const double operations = OperationsOf(Recomputation::kFull);
  EXPECT_NEAR(TrainingSeconds(operations, 175e9, 300e9, 1024, 140e12) / kDay, 34, 0.5);
  EXPECT_NEAR(TrainingSeconds(operations, 1e12, 450e9, 3072, 163e12) / kDay, 84, 1);
}

// Kaplan et al., section 2.1: 6 N operations a token; a PF-day is 8.64e19 of them. Brown et al.
// (arXiv 2005.14165), table D.1: GPT-3 with 174.6 billion parameters and 300 billion tokens took
// 3640 of these.
TEST(RunCost, TheOperationsOfGpt3AreThoseOfItsPaper) {
  const double seconds =
      TrainingSeconds(OperationsOf(Recomputation::kNone), 174.6e9, 300e9, 1, 1e15);
  EXPECT_NEAR(seconds / kDay, 3640, 5);
}

// LLaMA, table 15: A100s of 400 W, PUE 1.1.
TEST(RunCost, EnergyIsThatOfLlamasPaper) {
  EXPECT_NEAR(EnergyOf(1'022'362, 400, 1.1) / 1000, 449, 1);
  EXPECT_NEAR(EnergyOf(530'432, 400, 1.1) / 1000, 233, 0.5);
  EXPECT_NEAR(EnergyOf(82'432, 400, 1.1) / 1000, 36, 0.5);
}

}  // namespace
}  // namespace muster::core
