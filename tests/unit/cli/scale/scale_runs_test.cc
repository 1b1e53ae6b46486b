#include "cli/scale/scale_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cli/frame/environment.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Verb> kNoVerbs;

// A verb's invocation in `variables`.
class ScaleRunsTest : public ::testing::Test {
 protected:
  Invocation Invoke(std::map<std::string, std::string> values) {
    return {.environment = environment_,
            .verbs = kNoVerbs,
            .values = std::move(values),
            .arguments = {}};
  }
  std::string Refusal(std::map<std::string, std::string> values) {
    const absl::StatusOr<ScalingRequest> request = ReadScale(Invoke(std::move(values)));
    EXPECT_EQ(request.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(request.status().message());
  }

  Environment environment_;
};

TEST_F(ScaleRunsTest, SizesDoubleUpToTheLast) {
  EXPECT_THAT(ScaleSizes(2), ElementsAre(1, 2));
  EXPECT_THAT(ScaleSizes(8), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(ScaleSizes(6), ElementsAre(1, 2, 4, 6));
}

TEST_F(ScaleRunsTest, ARunHasItsRanksAndTheirNumberInItsCommand) {
  Invocation invocation = Invoke({{"max", "8"}, {"weak", ""}, {"cpus-per-task", "2"}});
  invocation.arguments = {"./heat", "--rows={N}000", "{N}"};
  const ScalingRequest request = *ReadScale(invocation);
  const Invocation run = AtSize(invocation, request, 4);
  EXPECT_THAT(run.arguments, ElementsAre("./heat", "--rows=4000", "4"));
  EXPECT_EQ(run.Value("ntasks"), "4");
  EXPECT_EQ(run.Value("cpus-per-task"), "2");
  EXPECT_FALSE(run.Has("max") || run.Has("weak") || run.Has("gpus"));
  EXPECT_TRUE(run.Has("kill-on-bad-exit"));
}

TEST_F(ScaleRunsTest, GpusGrowInsteadWhereTheyAreAskedFor) {
  Invocation invocation = Invoke({{"max", "4"}, {"gpus", ""}, {"ntasks", "1"}});
  const ScalingRequest request = *ReadScale(invocation);
  const Invocation run = AtSize(invocation, request, 2);
  EXPECT_EQ(run.Value("gpus"), "2");
  EXPECT_EQ(run.Value("ntasks"), "1");
}

TEST_F(ScaleRunsTest, InsideAJobTheMostIsItsTasks) {
  EXPECT_THAT(Refusal({}), HasSubstr("--max: say up to how many ranks"));
  environment_ = Environment({"MUSTER_JOB_ID=7", "MUSTER_NTASKS=6"});
  EXPECT_EQ(ReadScale(Invoke({}))->max, 6);
  EXPECT_EQ(ReadScale(Invoke({{"max", "4"}}))->max, 4);
}

TEST_F(ScaleRunsTest, EachOptionSaysWhatIsWrongWithIt) {
  EXPECT_THAT(Refusal({{"max", "1"}}), HasSubstr("--max: \"1\" is not a whole number from 2"));
  EXPECT_THAT(Refusal({{"max", "4"}, {"repeat", "0"}}), HasSubstr("--repeat: \"0\""));
  EXPECT_THAT(Refusal({{"max", "4"}, {"floor", "1.5"}}), HasSubstr("--floor: \"1.5\""));
  EXPECT_THAT(Refusal({{"max", "4"}, {"floor", "nan"}}), HasSubstr("--floor: \"nan\""));
  EXPECT_THAT(Refusal({{"max", "4"}, {"ntasks", "2"}}), HasSubstr("--max"));
  EXPECT_THAT(Refusal({{"max", "4"}, {"measure", ""}}), HasSubstr("--measure"));
  EXPECT_THAT(Refusal({{"max", "4"}, {"higher-is-better", ""}}), HasSubstr("add --measure"));
  EXPECT_THAT(Refusal({{"max", "4"}, {"measure", "x"}, {"output", "f"}}), HasSubstr("--output"));
}

TEST_F(ScaleRunsTest, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
  const auto point = [](const std::vector<double>& values) {
    ScalePoint made;
    for (const double value : values) {
      made.runs.push_back({.value = value});
    }
    return made;
  };
  EXPECT_EQ(point({9, 1, 2}).Median(), 2);
  EXPECT_EQ(point({4, 1, 2, 9}).Median(), 3);
  EXPECT_EQ(point({2, 4, 3}).Spread(), 2.0 / 3);
}

TEST_F(ScaleRunsTest, RatesBecomeTimesThatCompare) {
  const std::vector<ScalePoint> points = {{.n = 1, .runs = {{.value = 100}}},
                                          {.n = 4, .runs = {{.value = 320}}}};
  for (const bool weak : {false, true}) {
    const ScalingResult result = ResultOf({.weak = weak, .higher_is_better = true}, "x", points);
    EXPECT_DOUBLE_EQ(result.Speedup(1), 3.2);
    EXPECT_DOUBLE_EQ(result.Efficiency(1), 0.8);
  }
}

}  // namespace
}  // namespace muster::cli
