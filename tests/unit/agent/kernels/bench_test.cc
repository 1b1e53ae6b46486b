#include "agent/kernels/harness/bench.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "agent/kernels/place/seeded.h"
#include "scheduler/base/text/size_text.h"

namespace muster::kernels {
namespace {

TEST(SummariseTest, TakesTheMiddleOfAnOddNumberOfSamples) {
  const std::vector<double> samples = {5, 1, 3};
  const Summary summary = Summarise(samples);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.max, 5);
  EXPECT_DOUBLE_EQ(summary.spread, 4.0 / 3.0);
}

TEST(SummariseTest, TakesTheMeanOfTheMiddleTwoOfAnEvenNumber) {
  const std::vector<double> samples = {8, 2, 4, 1};
  const Summary summary = Summarise(samples);
  EXPECT_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.spread, 7.0 / 3.0);
}

TEST(SummariseTest, OneSampleHasNoSpread) {
  const std::vector<double> samples = {0.25};
  const Summary summary = Summarise(samples);
  EXPECT_EQ(summary.min, 0.25);
  EXPECT_EQ(summary.median, 0.25);
  EXPECT_EQ(summary.spread, 0);
}

TEST(SummariseTest, ZerosDivideNothing) {
  const std::vector<double> samples = {0, 0};
  EXPECT_EQ(Summarise(samples).spread, 0);
}

TEST(BenchJsonTest, TheBestTimeIsTheShortestAndTheBestRateTheHighest) {
  const std::vector<double> samples = {2, 4, 3};
  EXPECT_EQ(SecondsJson(samples).dump(),
            R"({"best":2.0,"median":3.0,"spread":0.6666666666666666,"samples":[2.0,4.0,3.0]})");
  EXPECT_EQ(RateJson(samples).dump(), R"({"best":4.0,"median":3.0})");
}

TEST(BenchJsonTest, TheHeadNamesTheKernelAndItsOptions) {
  BenchOptions options;
  options.n = 7;
  options.repeat = 3;
  options.warmup = 2;
  options.seed = 9;
  EXPECT_EQ(BenchJson("stream", options).dump(),
            R"({"kernel":"stream","n":7,"repeat":3,"warmup":2,"seed":9})");
}

TEST(BytesTextTest, PicksTheUnitBelow1024) {
  EXPECT_EQ(BytesText(0), "0.0 B");
  EXPECT_EQ(BytesText(1023), "1023.0 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(3.0 * (1 << 30)), "3.0 GiB");
}

TEST(SeededUnitTest, IsAFunctionOfSeedAndIndexWithinTheUnitInterval) {
  double sum = 0;
  constexpr uint64_t kCount = 10000;
  for (uint64_t i = 0; i < kCount; ++i) {
    const double value = SeededUnit(3, i);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ASSERT_EQ(value, SeededUnit(3, i));
    sum += value;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 0.02);
  EXPECT_NE(SeededUnit(3, 5), SeededUnit(4, 5));
  EXPECT_NE(SeededUnit(3, 5), SeededUnit(3, 6));
}

}  // namespace
}  // namespace muster::kernels
