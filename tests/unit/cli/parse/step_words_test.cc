// What names a step, and what names a signal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/parse/selector.h"
#include "cli/parse/signal.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

TEST(StepSelector, IsAJobOrAStepOfOne) {
  EXPECT_EQ(ParseStepSelector("12")->step, std::nullopt);
  EXPECT_EQ(*ParseStepSelector("12.3"), (StepSelector{{JobId(12), {}, {}}, StepId(3)}));
  EXPECT_EQ(*ParseStepSelector("12_4.3"), (StepSelector{{JobId(12), {4}, {}}, StepId(3)}));
  EXPECT_EQ(ParseStepSelector("12.batch")->step, StepId());
  EXPECT_EQ(ParseStepSelector("12_[3-5]")->job.elements.size(), 3U);
  EXPECT_EQ(ParseStepSelector("12+1")->job.component, 1U);
}

TEST(StepSelector, RefusesWhatNamesNoneOrSeveral) {
  for (const char* text : {"", ".", "12.", ".3", "12.x", "12.-1", "12.1.2", "12.4294967296",
                           "12_[3-5].1", "12+1.1", "x.1", "12. 1"}) {
    const absl::StatusOr<StepSelector> step = ParseStepSelector(text);
    EXPECT_EQ(step.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Signal, HasANameOrANumber) {
  EXPECT_EQ(*ParseSignal("USR1"), 10U);
  EXPECT_EQ(*ParseSignal("SIGUSR1"), 10U);
  EXPECT_EQ(*ParseSignal("sigterm"), 15U);
  EXPECT_EQ(*ParseSignal("9"), 9U);
  EXPECT_EQ(*ParseSignal("64"), 64U);
}

TEST(Signal, NothingElseIsOne) {
  for (const char* text : {"", "0", "65", "-1", "SIG", "USR3", "9x", "KILLL"}) {
    EXPECT_THAT(std::string(ParseSignal(text).status().message()), HasSubstr("is not a signal"))
        << text;
  }
}

}  // namespace
}  // namespace muster::cli
