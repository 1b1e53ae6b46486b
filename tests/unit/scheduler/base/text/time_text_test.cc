#include "scheduler/base/text/time_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstdint>

namespace muster {
namespace {

using Moment = std::chrono::sys_time<std::chrono::milliseconds>;

TEST(TimeText, MomentsAreUtcAndExact) {
  EXPECT_EQ(MomentText(ParseMoment("2030-01-31T08:00Z").value()), "2030-01-31T08:00:00Z");
  for (const char* bad : {"2030-02-31T08:00Z", "2030-01-31T08:00", "2030-01-31T24:00Z", "now",
                          "2030-01-31T08:00Zx", "1969-01-01T00:00Z"}) {
    EXPECT_FALSE(ParseMoment(bad).ok()) << bad;
  }
}

TEST(TimeText, EachFormSaysItsPartOfTheMoment) {
  const Moment time{std::chrono::milliseconds(1'773'480'413'589)};
  EXPECT_EQ(IsoText(time), "2026-03-14T09:26:53.589Z");
  EXPECT_EQ(MomentText(time), "2026-03-14T09:26:53Z");
  EXPECT_EQ(UtcText(time), "2026-03-14 09:26:53 UTC");
  EXPECT_EQ(IsoText(Moment()), "1970-01-01T00:00:00.000Z");
}

RC_GTEST_PROP(TimeText, MomentsReadBackAsTheyWereWritten, ()) {
  const Moment time{
      std::chrono::seconds(*rc::gen::inRange<std::int64_t>(0, std::int64_t{9'000'000'000}))};
  RC_ASSERT(ParseMoment(MomentText(time)).value() == time);
}

}  // namespace
}  // namespace muster
