#include "scheduler/core/prompt/run_time_prediction.h"

#include <gtest/gtest.h>

namespace muster::core {
namespace {

TEST(RunTimePrediction, IsTheMeanOfTheLastTwoAndNeverMoreThanWasRequested) {
  LastTwoPrediction prediction;
  EXPECT_EQ(prediction.Predict(1, 500), 500);
  prediction.Observe(1, 100);
  EXPECT_EQ(prediction.Predict(1, 500), 500);
  prediction.Observe(1, 201);
  EXPECT_EQ(prediction.Predict(1, 500), 150);
  EXPECT_EQ(prediction.Predict(1, 120), 120);
  EXPECT_EQ(prediction.Predict(2, 500), 500);
}

TEST(RunTimePrediction, GrowsByStepsUpToTheLimitWhenItIsOutlived) {
  EXPECT_EQ(CorrectedPrediction(100, 0, 10'000), 160);
  EXPECT_EQ(CorrectedPrediction(100, 1, 10'000), 400);
  EXPECT_EQ(CorrectedPrediction(100, 4, 10'000), 3700);
  EXPECT_EQ(CorrectedPrediction(100, 99, 10'000), 10'000);
}

}  // namespace
}  // namespace muster::core
