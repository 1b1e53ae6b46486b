#include "cli/scale/measured_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

MeasuredOutput Find(const std::string& pattern) {
  absl::StatusOr<MeasuredOutput> output = MeasuredOutput::Find(pattern);
  EXPECT_TRUE(output.ok()) << output.status();
  return *std::move(output);
}

TEST(MeasuredOutputTest, TheFirstGroupIsTheNumber) {
  MeasuredOutput output = Find("^Elapsed: ([0-9.]+) (s|ms)");
  output.Take("0", "starting\nElapsed: 12.5 s\nbye\n");
  EXPECT_EQ(*output.Finish(), 12.5);
}

TEST(MeasuredOutputTest, WithoutAGroupItIsWhatMatches) {
  MeasuredOutput output = Find("[0-9]+");
  output.Take("0", "after 40 s");
  EXPECT_EQ(*output.Finish(), 40);
}

TEST(MeasuredOutputTest, TheLastMatchCounts) {
  MeasuredOutput output = Find("rate=([0-9.e+]+)");
  output.Take("0", "rate=1\nrate=2.5e+3\nnothing\n");
  EXPECT_EQ(*output.Finish(), 2500);
}

TEST(MeasuredOutputTest, PiecesOfSeveralRanksDoNotMix) {
  MeasuredOutput output = Find("^time ([0-9.]+)$");
  output.Take("10", "time 3");
  output.Take("2", "ti");
  output.Take("10", "\n");
  output.Take("2", "me 7\n");
  EXPECT_EQ(*output.Finish(), 7) << "rank 2 is lower than rank 10";
}

TEST(MeasuredOutputTest, EachRunBeginsWithNothing) {
  MeasuredOutput output = Find("time ([0-9.]+)");
  output.Take("0", "time 3\n");
  EXPECT_EQ(*output.Finish(), 3);
  EXPECT_EQ(output.Finish().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(MeasuredOutputTest, NoMatchIsOneLineThatNamesThePattern) {
  MeasuredOutput output = Find("time ([0-9.]+)");
  output.Take("0", "hello\n");
  const std::string message(output.Finish().status().message());
  EXPECT_THAT(message, HasSubstr("no line of its standard output matches \"time ([0-9.]+)\""));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(MeasuredOutputTest, WhatIsNoNumberAboveNothingIsRefused) {
  for (const char* text : {"time fast", "time 0", "time -1", "time inf", "time nan", "time "}) {
    MeasuredOutput output = Find("time (.*)");
    output.Take("3", text);
    EXPECT_THAT(std::string(output.Finish().status().message()),
                HasSubstr("of rank 3 is no number above 0"))
        << text;
  }
}

TEST(MeasuredOutputTest, APatternThatIsNoneIsRefused) {
  const absl::StatusOr<MeasuredOutput> output = MeasuredOutput::Find("time ([0-9");
  EXPECT_EQ(output.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(output.status().message()),
              HasSubstr("\"time ([0-9\" is no regular expression: missing"));
}

TEST(MeasuredOutputTest, ALineWithoutEndTakesBoundedMemoryAndItsBeginCounts) {
  MeasuredOutput output = Find("^time ([0-9.]+) ");
  output.Take("0", "time 5 ");
  for (int i = 0; i < 100; ++i) {
    output.Take("0", std::string(10'000, 'x'));
  }
  EXPECT_EQ(*output.Finish(), 5);
}

}  // namespace
}  // namespace muster::cli
