// Durations as people write them.

#include "cli/parse/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

using testing::HasSubstr;

std::int64_t Milliseconds(const std::string& text) {
  const absl::StatusOr<Duration> duration = ParseDuration(text);
  return duration.ok() ? duration->count() : -1;
}

TEST(ParseDuration, TakesUnits) {
  EXPECT_EQ(Milliseconds("90s"), 90'000);
  EXPECT_EQ(Milliseconds("5m"), 300'000);
  EXPECT_EQ(Milliseconds("24h"), 86'400'000);
  EXPECT_EQ(Milliseconds("1d12h"), 129'600'000);
  EXPECT_EQ(Milliseconds("2w"), 1'209'600'000);
  EXPECT_EQ(Milliseconds("1h5s"), 3'605'000);
  EXPECT_EQ(Milliseconds("1s250ms"), 1250);
  EXPECT_EQ(Milliseconds("1.5h"), 5'400'000);
  EXPECT_EQ(Milliseconds("0.25s"), 250);
  EXPECT_EQ(Milliseconds("0s"), 0);
  EXPECT_EQ(Milliseconds("90m"), 5'400'000);
}

TEST(ParseDuration, TakesSlurmsForms) {
  EXPECT_EQ(Milliseconds("5"), 300'000);
  EXPECT_EQ(Milliseconds("0"), 0);
  EXPECT_EQ(Milliseconds("0:30"), 30'000);
  EXPECT_EQ(Milliseconds("1:00:00"), 3'600'000);
  EXPECT_EQ(Milliseconds("1-12"), 129'600'000);
  EXPECT_EQ(Milliseconds("1-12:00:30"), 129'630'000);
}

TEST(ParseDuration, RefusesWhatIsNone) {
  for (const char* text : {"",          " ",
                           "s",         "m5",
                           "-5m",       "+5m",
                           "5 m",       "5m ",
                           "1e3s",      "0x10",
                           "nan",       "NaN",
                           "inf",       "infinite",
                           "unlimited", "5x",
                           "5M",        "5m1h",
                           "5s5s",      "1.s",
                           ".5s",       "1.5",
                           "0.0001s",   "0.3333333333m",
                           "1.2.3s",    "99999999999999999999s",
                           "366000d",   "1-",
                           "1d-2",      "१s",
                           "5m\n"}) {
    EXPECT_EQ(Milliseconds(text), -1) << text;
  }
  EXPECT_THAT(std::string(ParseDuration("soon").status().message()),
              HasSubstr("\"soon\" is not a duration: use 90s, 5m"));
}

RC_GTEST_PROP(ParseDuration, ReadsWhatItsPartsAddUpTo, ()) {
  const auto days = *rc::gen::inRange<std::int64_t>(0, 300'000);
  const auto hours = *rc::gen::inRange<std::int64_t>(0, 100'000);
  const auto minutes = *rc::gen::inRange<std::int64_t>(0, 100'000);
  const auto seconds = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  const auto rest = *rc::gen::inRange<std::int64_t>(0, 1000);
  const std::string text =
      absl::StrCat(days, "d", hours, "h", minutes, "m", seconds, "s", rest, "ms");
  RC_ASSERT(Milliseconds(text) ==
            (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + rest);
}

}  // namespace
}  // namespace muster::cli
