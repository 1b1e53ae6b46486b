#include "cli/parse/zone_text.h"

#include <gtest/gtest.h>

#include "scheduler/base/text/zone_rule.h"

namespace muster::cli {
namespace {

const Time kNow = Time(std::chrono::sys_days(std::chrono::year(2026) / 11 / 27));

TEST(ZoneText, IsTheRuleOfTheDatabase) {
  absl::TimeZone berlin;
  if (!absl::LoadTimeZone("Europe/Berlin", &berlin)) {
    GTEST_SKIP() << "this machine has no time zone database";
  }
  EXPECT_EQ(ZoneText(berlin, kNow), "CET-1CEST,M3.5.0,M10.5.0/3");
}

TEST(ZoneText, OfAZoneWithoutAFileItIsWhatItIsNow) {
  EXPECT_EQ(ZoneText(absl::FixedTimeZone(3600 * 5 + 1800), kNow), "<+0530>-5:30:00");
  EXPECT_EQ(ZoneText(absl::FixedTimeZone(-3600 * 3), kNow), "<-0300>3:00:00");
  for (const int east : {0, 1, -12345, 50000}) {
    const absl::StatusOr<ZoneRule> rule =
        ZoneRule::Parse(ZoneText(absl::FixedTimeZone(east), kNow));
    ASSERT_TRUE(rule.ok()) << rule.status();
    const auto now = std::chrono::floor<std::chrono::seconds>(kNow);
    EXPECT_EQ((rule->LocalTimeOf(now).time_since_epoch() - now.time_since_epoch()).count(), east);
  }
}

}  // namespace
}  // namespace muster::cli
