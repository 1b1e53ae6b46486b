#include "scheduler/base/text/duration_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::int64_t Milliseconds(const std::string& text) {
  const absl::StatusOr<milliseconds> duration = ParseDuration(text);
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
  const auto days_part = *rc::gen::inRange<std::int64_t>(0, 300'000);
  const auto hours_part = *rc::gen::inRange<std::int64_t>(0, 100'000);
  const auto minutes_part = *rc::gen::inRange<std::int64_t>(0, 100'000);
  const auto seconds_part = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  const auto rest = *rc::gen::inRange<std::int64_t>(0, 1000);
  const std::string text = absl::StrCat(days_part, "d", hours_part, "h", minutes_part, "m",
                                        seconds_part, "s", rest, "ms");
  RC_ASSERT(Milliseconds(text) ==
            (((days_part * 24 + hours_part) * 60 + minutes_part) * 60 + seconds_part) * 1000 +
                rest);
}

struct TimeCase {
  const char* text;
  milliseconds duration;
};

TEST(TimeLimit, TakesSlurmsForms) {
  const TimeCase cases[] = {
      {"90", minutes(90)},
      {"1:30", seconds(90)},
      {"100:00", minutes(100)},
      {"1:02:03", hours(1) + minutes(2) + seconds(3)},
      {"48:00:00", hours(48)},
      {"2-3", hours(51)},
      {"2-03:04", hours(51) + minutes(4)},
      {"2-03:04:05", hours(51) + minutes(4) + seconds(5)},
      {"0-0:0:1", seconds(1)},
      {"UNLIMITED", kTimeLimitMax},
      {"infinite", kTimeLimitMax},
  };
  for (const TimeCase& c : cases) {
    EXPECT_EQ(ParseTimeLimit(c.text).value(), c.duration) << c.text;
  }
}

TEST(TimeLimit, RefusesWhatIsNoTime) {
  for (const char* text : {"0",      "0:00",        "0-0",
                           "1:60",   "1:60:00",     "1-24",
                           "1-1:60", "1-1:1:1:1",   "-",
                           "1-",     "-1",          ":",
                           "1:",     ":1",          "1::1",
                           "1-1-1",  "36526-0",     "unlimited!",
                           "",       " 1",          "1 ",
                           "+1",     "0x10",        "1e3",
                           "1.5",    "99:99:99:99", "18446744073709551616",
                           "1\n"}) {
    EXPECT_FALSE(ParseTimeLimit(text).ok()) << text;
  }
}

RC_GTEST_PROP(TimeLimit, ReadsBackWhatItWrites, ()) {
  const milliseconds limit = seconds(*rc::gen::inRange<std::int64_t>(1, 3'155'760'000));
  RC_ASSERT(ParseTimeLimit(FormatTimeLimit(limit)).value() == limit);
}

TEST(ParsePeriod, ReadsBothForms) {
  const auto count = [](const char* text) { return ParsePeriod(text).value() / seconds(1); };
  EXPECT_EQ(count("30"), 1800);
  EXPECT_EQ(count("1:30"), 90);
  EXPECT_EQ(count("1:00:00"), 3600);
  EXPECT_EQ(count("2-12"), 60 * 3600);
  EXPECT_EQ(count("2-00:00:01"), 172801);
  EXPECT_EQ(count("90s"), 90);
  EXPECT_EQ(count("7d"), 604800);
  EXPECT_EQ(count("1.5h"), 5400);
  EXPECT_EQ(count("1d12h"), 129600);
  EXPECT_EQ(count("1:75"), 135);
  for (const char* bad :
       {"", "x", "1:2:3:4", "-5", "9999999999999", "1-", "5 m", "1.5s", "250ms", "36526d"}) {
    EXPECT_FALSE(ParsePeriod(bad).ok()) << bad;
  }
  for (const char* text : {"0:01:30", "23:59:59", "7-00:00:00"}) {
    EXPECT_EQ(PeriodText(ParsePeriod(text).value()), text);
  }
}

TEST(DurationText, ElapsedTimeGrowsFromMinutesToDays) {
  EXPECT_EQ(ElapsedText(milliseconds(999)), "0:00");
  EXPECT_EQ(ElapsedText(seconds(7)), "0:07");
  EXPECT_EQ(ElapsedText(minutes(12) + seconds(5)), "12:05");
  EXPECT_EQ(ElapsedText(hours(3)), "3:00:00");
  EXPECT_EQ(ElapsedText(hours(51)), "2-03:00:00");
  EXPECT_EQ(ElapsedText(seconds(-1)), "0:00");
}

TEST(DurationText, ShortTimesShowHundredths) {
  EXPECT_EQ(PreciseText(milliseconds(423)), "0:00.42");
  EXPECT_EQ(PreciseText(milliseconds(59'999)), "0:59.99");
  EXPECT_EQ(PreciseText(minutes(1)), "1:00");
}

TEST(ReadClock, BoundsItsPartsWhereAPersonWritesThem) {
  EXPECT_EQ(ReadClock("1:75", ClockParts::kAny), seconds(135));
  EXPECT_EQ(ReadClock("1:75", ClockParts::kBounded), std::nullopt);
  EXPECT_EQ(ReadClock("1-30", ClockParts::kAny), hours(54));
  EXPECT_EQ(ReadClock("1-30", ClockParts::kBounded), std::nullopt);
  for (const char* text : {"", ":", "1:", "1-", "-1", "1:2:3:4", "1-1:2:3:4", "1h", "1.5"}) {
    EXPECT_EQ(ReadClock(text, ClockParts::kAny), std::nullopt) << text;
  }
}

TEST(ParseUnits, TakesNothingWithoutAUnit) {
  EXPECT_EQ(ParseUnits("1h30m").value(), minutes(90));
  EXPECT_EQ(ParseUnits("0s").value(), milliseconds(0));
  for (const char* text : {"", "30", "0", "1:00", "1-0", "s", "-5s", "+5s", " 5s", "366000d"}) {
    EXPECT_FALSE(ParseUnits(text).ok()) << text;
  }
}

TEST(DurationText, LongOnesHaveTwoDigitsForHours) {
  EXPECT_EQ(LongText(seconds(7)), "00:00:07");
  EXPECT_EQ(LongText(hours(26) + minutes(3)), "1-02:03:00");
  EXPECT_EQ(LongText(seconds(-1)), "00:00:00");
  EXPECT_EQ(FormatTimeLimit(kTimeLimitMax), "UNLIMITED");
}

TEST(DurationText, RoughOnesHaveTwoDigitsOrMore) {
  EXPECT_EQ(RoughText(seconds(0)), "0 s");
  EXPECT_EQ(RoughText(milliseconds(4200)), "4.2 s");
  EXPECT_EQ(RoughText(seconds(90)), "90 s");
  EXPECT_EQ(RoughText(minutes(2)), "2 min");
  EXPECT_EQ(RoughText(minutes(41)), "41 min");
  EXPECT_EQ(RoughText(hours(37)), "37 h");
  EXPECT_EQ(RoughText(hours(24 * 9)), "9 d");
}

TEST(DurationText, ExactOnesHaveAsManyDigitsAsTheyNeed) {
  EXPECT_EQ(SecondsText(seconds(90)), "90 s");
  EXPECT_EQ(SecondsText(milliseconds(2500)), "2.5 s");
  EXPECT_EQ(SecondsText(milliseconds(200)), "0.2 s");
  EXPECT_EQ(SecondsText(milliseconds(0)), "0 s");
  EXPECT_EQ(SecondsText(seconds(2'000'000)), "2000000 s");
}

RC_GTEST_PROP(PeriodText, ReadsBackWhatItWrites, ()) {
  const milliseconds period = seconds(*rc::gen::inRange<std::int64_t>(0, 3'155'760'000));
  RC_ASSERT(ParsePeriod(PeriodText(period)).value() == period);
  RC_ASSERT(ParseDuration(LongText(period)).value() == period);
  RC_ASSERT(ParseDuration(ElapsedText(period)).value() == period);
}

}  // namespace
}  // namespace muster
