#include "agent/supervisor/values/value_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "agent/supervisor/attempt/reported_values.h"

namespace muster::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Time kStart(std::chrono::hours(500'000));

class ValueWatchTest : public ::testing::Test {
 protected:
  void Say(const std::string& name, double value) {
    watch_.Take({{name, value}}, now_);
    now_ += seconds(1);
  }
  void SayOften(const std::string& name, double value, int times) {
    for (int i = 0; i < times; ++i) {
      Say(name, value);
    }
  }
  [[nodiscard]] std::vector<ReportedFinding> Findings() const { return watch_.Now(now_).findings; }

  Time now_ = kStart;
  ValueWatch watch_;
};

TEST_F(ValueWatchTest, TheLastValueOfEachNameIsKept) {
  Say("loss", 3);
  Say("loss", 2);
  Say("step", 10);
  const ReportedValues told = watch_.Now(now_);
  ASSERT_THAT(told.values, SizeIs(2));
  EXPECT_EQ(told.values[0].name, "loss");
  EXPECT_EQ(told.values[0].last, 2);
  EXPECT_EQ(told.values[0].count, 2U);
  EXPECT_THAT(told.findings, IsEmpty());
}

TEST_F(ValueWatchTest, AValueThatIsNoNumberIsFoundAtOnceAndForgottenLater) {
  Say("anything", NAN);
  ASSERT_THAT(Findings(), SizeIs(1));
  EXPECT_EQ(Findings()[0].rule, "ValueNotANumber");
  EXPECT_EQ(Findings()[0].since, kStart);
  now_ += minutes(60);
  EXPECT_THAT(Findings(), SizeIs(1)) << "it still is none";
  Say("anything", 1);
  EXPECT_THAT(Findings(), SizeIs(1));
  now_ += ValueWatch::kKept;
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(ValueWatchTest, ASpikeIsThreeTimesWhatWasUsualOfALossAlone) {
  for (const char* name : {"train/loss", "accuracy"}) {
    SayOften(name, 0.5, 8);
    Say(name, 1.4);
    Say(name, 1.6);
  }
  ASSERT_THAT(Findings(), SizeIs(1));
  EXPECT_EQ(Findings()[0].rule, "ValueSpike");
  EXPECT_THAT(Findings()[0].text, HasSubstr("train/loss rose to 1.6, from 0.5"));
  now_ += ValueWatch::kKept;
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(ValueWatchTest, TheFirstValuesAreComparedWithNothing) {
  SayOften("loss", 0.1, 7);
  Say("loss", 100);
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(ValueWatchTest, ADropOfThroughputStandsUntilItIsMadeUp) {
  SayOften("tokens/s", 1000, 20);
  SayOften("tokens/s", 400, 2);
  EXPECT_THAT(Findings(), IsEmpty()) << "a checkpoint may have been written";
  SayOften("tokens/s", 400, 100);
  ASSERT_THAT(Findings(), SizeIs(1)) << "what is low does not become what is usual";
  EXPECT_EQ(Findings()[0].rule, "ThroughputDropped");
  EXPECT_THAT(Findings()[0].text, HasSubstr("fell to 400, from 1000"));
  Say("tokens/s", 900);
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(ValueWatchTest, StepsThatRiseMoreSlowlyAreADropToo) {
  double step = 0;
  for (int i = 0; i < 10; ++i) {
    Say("step", step += 10);
  }
  for (int i = 0; i < 3; ++i) {
    Say("step", step += 1);
  }
  ASSERT_THAT(Findings(), SizeIs(1));
  EXPECT_THAT(Findings()[0].text, HasSubstr("step a second fell to 1, from 10"));
}

TEST_F(ValueWatchTest, NamesAreBounded) {
  for (std::size_t i = 0; i < 2 * ValueWatch::kValuesMax; ++i) {
    Say("v" + std::to_string(i), 1);
  }
  EXPECT_THAT(watch_.Now(now_).values, SizeIs(ValueWatch::kValuesMax));
}

TEST(ReportedValuesTest, WhatIsPrintedIsReadAgainAndAnythingElseLeftOut) {
  ReportedValues reported;
  reported.values = {{"train/loss", 0.1, kStart, 7}, {"x", NAN, kStart, 1}};
  reported.findings = {{"ValueSpike", "loss rose to 3, from 1", kStart}};
  const std::string text = PrintReported(reported);
  const ReportedValues read = ParseReported("nonsense\nv x\n" + text + "v bad! 1 2 3\nf only\n");
  ASSERT_THAT(read.values, SizeIs(2));
  EXPECT_EQ(read.values[0].name, "train/loss");
  EXPECT_EQ(read.values[0].last, 0.1);
  EXPECT_EQ(read.values[0].time, kStart);
  EXPECT_EQ(read.values[0].count, 7U);
  EXPECT_TRUE(std::isnan(read.values[1].last));
  ASSERT_THAT(read.findings, SizeIs(1));
  EXPECT_EQ(read.findings[0].text, "loss rose to 3, from 1");
  EXPECT_EQ(read.findings[0].since, kStart);
}

}  // namespace
}  // namespace muster::agent
