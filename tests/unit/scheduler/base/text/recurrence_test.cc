#include "scheduler/base/text/recurrence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

std::chrono::sys_seconds At(const std::string& text) {
  return std::chrono::floor<std::chrono::seconds>(*ParseMoment(text));
}

std::string NextOf(const std::string& recurrence, const std::string& after) {
  const absl::StatusOr<Recurrence> read = Recurrence::Parse(recurrence);
  if (!read.ok()) {
    return std::string(read.status().message());
  }
  const auto next = read->Next(At(after));
  return next.has_value() ? MomentText(*next) : "never";
}

TEST(Recurrence, TheNextMomentIsLaterThanNow) {
  EXPECT_EQ(NextOf("0 3 * * *", "2026-11-27T02:59:59Z"), "2026-11-27T03:00:00Z");
  EXPECT_EQ(NextOf("0 3 * * *", "2026-11-27T03:00:00Z"), "2026-11-28T03:00:00Z");
  EXPECT_EQ(NextOf("*/15 * * * *", "2026-12-31T23:45:01Z"), "2027-01-01T00:00:00Z");
  EXPECT_EQ(NextOf("30 8-18/5 * * mon-fri", "2026-11-27T18:31:00Z"), "2026-11-30T08:30:00Z");
  EXPECT_EQ(NextOf("0 0 29 2 *", "2026-11-27T00:00:00Z"), "2028-02-29T00:00:00Z");
  EXPECT_EQ(NextOf("0 0 29 2 *", "2096-03-01T00:00:00Z"), "2104-02-29T00:00:00Z");
  EXPECT_EQ(NextOf("0 0 31 2 *", "2026-11-27T00:00:00Z"), "never");
  EXPECT_EQ(NextOf("0 0 * * 7", "2026-11-27T00:00:00Z"), "2026-11-29T00:00:00Z") << "a Sunday";
}

TEST(Recurrence, ADayOfTheMonthAndOneOfTheWeekAreEitherAsCronHasIt) {
  EXPECT_EQ(NextOf("0 0 13 * fri", "2026-11-27T00:00:00Z"), "2026-12-04T00:00:00Z");
  EXPECT_EQ(NextOf("0 0 1 * fri", "2026-11-28T00:00:00Z"), "2026-12-01T00:00:00Z");
  EXPECT_EQ(NextOf("0 0 */2 * fri", "2026-11-28T00:00:00Z"), "2026-12-11T00:00:00Z") << "both";
}

TEST(Recurrence, HoursAreThoseOfThePlacesClocks) {
  const std::string berlin = ";CET-1CEST,M3.5.0,M10.5.0/3";
  EXPECT_EQ(NextOf("0 3 * * *" + berlin, "2026-07-01T00:00:00Z"), "2026-07-01T01:00:00Z");
  EXPECT_EQ(NextOf("0 3 * * *" + berlin, "2026-12-01T00:00:00Z"), "2026-12-01T02:00:00Z");
  EXPECT_EQ(NextOf("30 2 * * *" + berlin, "2026-03-29T00:00:00Z"), "2026-03-29T01:30:00Z")
      << "clocks leave 2:30 out and show 3:30";
  EXPECT_EQ(NextOf("30 2 * * *" + berlin, "2026-10-25T00:30:00Z"), "2026-10-26T01:30:00Z")
      << "once, though clocks show 2:30 twice";
  EXPECT_EQ(NextOf("0 0 * * *;<+14>-14", "2026-11-27T09:59:59Z"), "2026-11-27T10:00:00Z");
}

TEST(Recurrence, WhatIsWrongIsNamedByItsField) {
  EXPECT_THAT(NextOf("60 * * * *", "2026-11-27T00:00:00Z"), HasSubstr("\"60\" is no minute"));
  EXPECT_THAT(NextOf("* 24 * * *", "2026-11-27T00:00:00Z"), HasSubstr("is no hour"));
  EXPECT_THAT(NextOf("* * 0 * *", "2026-11-27T00:00:00Z"), HasSubstr("is no day of the month"));
  EXPECT_THAT(NextOf("* * * 13 *", "2026-11-27T00:00:00Z"), HasSubstr("is no month"));
  EXPECT_THAT(NextOf("* * * * 8", "2026-11-27T00:00:00Z"), HasSubstr("is no day of the week"));
  for (const char* bad : {"*/0 * * * *", "5-1 * * * *", "1- * * * *", "-1 * * * *", "1,,2 * * * *",
                          "*/ * * * *", "+1 * * * *", "1-2-3 * * * *", "fri * * * *"}) {
    EXPECT_THAT(NextOf(bad, "2026-11-27T00:00:00Z"), HasSubstr("is no minute")) << bad;
  }
  EXPECT_THAT(NextOf("* * * *", "2026-11-27T00:00:00Z"), HasSubstr("has not five fields"));
  EXPECT_THAT(NextOf("* * * * *;x", "2026-11-27T00:00:00Z"), HasSubstr("no rule of a time zone"));
}

TEST(Recurrence, PeopleSayItInTheirWords) {
  const std::vector<std::pair<const char*, const char*>> said = {
      {"Mon 03:00", "0 3 * * mon"},
      {"mon-fri 8:30", "30 8 * * mon-fri"},
      {"sat,sun 23:59", "59 23 * * sat,sun"},
      {"03:00", "0 3 * * *"},
      {"day 12:05", "5 12 * * *"},
      {"weekdays 7:00", "0 7 * * 1-5"},
      {"month 04:00", "0 4 1 * *"},
      {"hour", "0 * * * *"},
      {"15m", "*/15 * * * *"},
      {"6h", "0 */6 * * *"},
      {"24h", "0 0 * * *"},
      {"@daily", "0 0 * * *"},
      {"Sun", "0 0 * * sun"},
      {" 5  4 * * 1 ", "5 4 * * 1"},
  };
  for (const auto& [text, fields] : said) {
    const absl::StatusOr<std::string> read = RecurrenceFields(text);
    ASSERT_TRUE(read.ok()) << text << ": " << read.status();
    EXPECT_EQ(*read, fields) << text;
  }
  for (const char* bad : {"", "never", "7m", "5h", "0m", "61m", "-5m", "24:00", "3:0", "Mon 3",
                          "Mon Tue", "Mon 03:00 UTC", "@reboot", "* * * *", "Mon-", "day day"}) {
    EXPECT_FALSE(RecurrenceFields(bad).ok()) << bad;
  }
}

// The next moment is one of those asked for, and no minute before it is.
RC_GTEST_PROP(Recurrence, NoMomentIsLeftOut, ()) {
  const auto field = [](int least, int most) {
    return rc::gen::oneOf(
        rc::gen::just(std::string("*")),
        rc::gen::map(rc::gen::inRange(least, most + 1), [](int n) { return absl::StrCat(n); }),
        rc::gen::map(rc::gen::inRange(1, most), [](int n) { return absl::StrCat("*/", n); }));
  };
  const std::string minute = *field(0, 59);
  const std::string hour = *field(0, 23);
  const std::string weekday = *field(0, 6);
  const Recurrence recurrence =
      *Recurrence::Parse(absl::StrCat(minute, " ", hour, " * * ", weekday));
  const auto after =
      At("2026-11-27T00:00:00Z") + std::chrono::minutes(*rc::gen::inRange(0, 20'000));
  const auto has = [](const std::string& text, unsigned value) {
    return text == "*" || (text.rfind("*/", 0) == 0 ? value % std::stoul(text.substr(2)) == 0
                                                    : value == std::stoul(text));
  };
  auto expected = after + std::chrono::minutes(1);
  while (true) {
    const auto day = std::chrono::floor<std::chrono::days>(expected);
    const std::chrono::hh_mm_ss clock(expected - day);
    if (has(minute, static_cast<unsigned>(clock.minutes().count())) &&
        has(hour, static_cast<unsigned>(clock.hours().count())) &&
        has(weekday, std::chrono::weekday(day).c_encoding())) {
      break;
    }
    expected += std::chrono::minutes(1);
  }
  RC_ASSERT(recurrence.Next(after) == std::optional(expected));
}

RC_GTEST_PROP(Recurrence, WhatPeopleSayIsReadBack, (const std::string& text)) {
  if (const absl::StatusOr<std::string> fields = RecurrenceFields(text); fields.ok()) {
    RC_ASSERT(Recurrence::Parse(*fields).ok());
  }
}

}  // namespace
}  // namespace muster
