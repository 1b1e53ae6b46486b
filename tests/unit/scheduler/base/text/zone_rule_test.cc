#include "scheduler/base/text/zone_rule.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <utility>

#include "absl/time/time.h"

namespace muster {
namespace {

using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;
using namespace std::chrono_literals;

const ZoneRule kBerlin = *ZoneRule::Parse("CET-1CEST,M3.5.0,M10.5.0/3");
const ZoneRule kSydney = *ZoneRule::Parse("AEST-10AEDT,M10.1.0,M4.1.0/3");

TEST(ZoneRule, WithoutARuleItIsUtc) {
  const std::chrono::sys_seconds time = sys_days(2026y / 11 / 27) + hours(16);
  EXPECT_EQ(ZoneRule().LocalTimeOf(time), local_days(2026y / 11 / 27) + hours(16));
}

TEST(ZoneRule, SummerBeginsAndEndsOnTheSundaysThatItNames) {
  const std::chrono::sys_seconds spring = sys_days(2026y / 3 / 29) + hours(1);
  EXPECT_EQ(kBerlin.LocalTimeOf(spring - seconds(1)),
            local_days(2026y / 3 / 29) + hours(2) - seconds(1));
  EXPECT_EQ(kBerlin.LocalTimeOf(spring), local_days(2026y / 3 / 29) + hours(3));
  const std::chrono::sys_seconds autumn = sys_days(2026y / 10 / 25) + hours(1);
  EXPECT_EQ(kBerlin.LocalTimeOf(autumn - seconds(1)),
            local_days(2026y / 10 / 25) + hours(3) - seconds(1));
  EXPECT_EQ(kBerlin.LocalTimeOf(autumn), local_days(2026y / 10 / 25) + hours(2));
}

TEST(ZoneRule, InTheSouthSummerGoesOverTheNewYear) {
  EXPECT_EQ(kSydney.LocalTimeOf(sys_days(2026y / 1 / 1)), local_days(2026y / 1 / 1) + hours(11));
  EXPECT_EQ(kSydney.LocalTimeOf(sys_days(2026y / 7 / 1)), local_days(2026y / 7 / 1) + hours(10));
}

TEST(ZoneRule, ATimeThatClocksLeaveOutIsAsMuchLaterAndOneThatTheyShowTwiceTheFirst) {
  EXPECT_EQ(kBerlin.SystemTimeOf(local_days(2026y / 3 / 29) + hours(2) + minutes(30)),
            sys_days(2026y / 3 / 29) + hours(1) + minutes(30));
  EXPECT_EQ(kBerlin.SystemTimeOf(local_days(2026y / 10 / 25) + hours(2) + minutes(30)),
            sys_days(2026y / 10 / 25) + minutes(30));
}

TEST(ZoneRule, ReadsWhatPosixAllowsAndRefusesTheRest) {
  for (const char* good : {"UTC0", "<+0530>-5:30", "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1",
                           "EST5EDT,J60/2:00:00,300", "IST-2IDT,M3.4.4/26,M10.5.0"}) {
    EXPECT_TRUE(ZoneRule::Parse(good).ok()) << good;
  }
  for (const char* bad : {"", "C", "CE-1", "CET", "CET-1CEST", "CET-1CEST,M3.5.0",
                          "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "<+1-1",
                          "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-25",
                          "CET-1CEST,J0,J5", "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1:60"}) {
    EXPECT_FALSE(ZoneRule::Parse(bad).ok()) << bad;
  }
}

// Against the database, where the machine has it, in the years for which the rules of both hold.
RC_GTEST_PROP(ZoneRule, AgreesWithTheTimeZoneDatabase, ()) {
  const auto [name, rule] =
      *rc::gen::element(std::pair("Europe/Berlin", kBerlin), std::pair("Australia/Sydney", kSydney),
                        std::pair("America/New_York", *ZoneRule::Parse("EST5EDT,M3.2.0,M11.1.0")),
                        std::pair("Asia/Kolkata", *ZoneRule::Parse("IST-5:30")));
  absl::TimeZone zone;
  RC_PRE(absl::LoadTimeZone(name, &zone));
  const auto begin = sys_days(2010y / 1 / 1);
  const auto time = begin + seconds(*rc::gen::inRange(0, 25 * 365 * 86400));
  const int east = zone.At(absl::FromChrono(time)).offset;
  RC_ASSERT((rule.LocalTimeOf(time).time_since_epoch() - time.time_since_epoch()).count() == east);
}

RC_GTEST_PROP(ZoneRule, AnyMomentComesBackButTheSecondOfTwoThatLookAlike, ()) {
  const auto rule = *rc::gen::element(kBerlin, kSydney);
  const auto time = sys_days(2000y / 1 / 1) + seconds(*rc::gen::inRange(0, 60 * 365 * 86400));
  const auto back = rule.SystemTimeOf(rule.LocalTimeOf(time));
  RC_ASSERT(back == time || back == time - hours(1));
}

}  // namespace
}  // namespace muster
