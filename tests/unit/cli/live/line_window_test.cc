#include "cli/live/line_window.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::cli {
namespace {

const absl::TimeZone kZone = absl::FixedTimeZone(3600);

Time At(std::int64_t seconds, int milliseconds = 0) {
  return Time(Duration(seconds * 1000 + milliseconds));
}

constexpr std::int64_t kMoment = 1773480413;  // 2026-03-14T09:26:53Z

TEST(LineWindow, FirstLinesEndAtALineWhereverAPieceDoes) {
  FirstLines lines(2);
  EXPECT_EQ(lines.Take("one\nt"), "one\nt");
  EXPECT_FALSE(lines.done());
  EXPECT_EQ(lines.Take("wo\nthree\n"), "wo\n");
  EXPECT_TRUE(lines.done());
  EXPECT_EQ(lines.Take("four\n"), "");
  EXPECT_TRUE(FirstLines(0).done());
  FirstLines all(std::nullopt);
  EXPECT_EQ(all.Take("a\nb\n"), "a\nb\n");
  EXPECT_FALSE(all.done());
}

TEST(LineWindow, AMomentIsReadAsLogsWriteIt) {
  EXPECT_EQ(TimeOfLine("2026-03-14T09:26:53Z step 1", kZone), At(kMoment));
  EXPECT_EQ(TimeOfLine("2026-03-14 09:26:53.250Z x", kZone), At(kMoment, 250));
  EXPECT_EQ(TimeOfLine("2026-03-14 10:26:53,589 INFO root", kZone), At(kMoment, 589));
  EXPECT_EQ(TimeOfLine("[2026-03-14T10:26:53] started", kZone), At(kMoment));
  EXPECT_EQ(TimeOfLine("2026-03-14T11:26:53+02:00 x", kZone), At(kMoment));
  EXPECT_EQ(TimeOfLine("2026-03-14T10:26:53 - module - x", kZone), At(kMoment));
  for (const char* other : {"", "epoch 1", "2026-03-14", "2026-13-14T09:26:53", "12:00:01 x",
                            " 2026-03-14T09:26:53Z"}) {
    EXPECT_EQ(TimeOfLine(other, kZone), std::nullopt) << other;
  }
}

TEST(LineWindow, LinesSinceAMomentBeginWithTheFirstThatIsYoungEnough) {
  LinesSince lines(At(kMoment), kZone);
  EXPECT_EQ(lines.Take("2026-03-14T09:26:52Z old\nits trace\n2026-03-"), "");
  EXPECT_EQ(lines.Take("14T09:26:53Z new\nits trace\n"), "2026-03-14T09:26:53Z new\nits trace\n");
  EXPECT_EQ(lines.Take("2026-03-14T09:26:50Z out of order\n"),
            "2026-03-14T09:26:50Z out of order\n");
  EXPECT_TRUE(lines.saw_time());
  EXPECT_EQ(lines.Finish(), "");
}

TEST(LineWindow, ALongLineIsJudgedByItsBeginningAndNotKept) {
  LinesSince lines(At(kMoment), kZone);
  EXPECT_EQ(lines.Take("2026-03-14T09:26:52Z " + std::string(100, 'x')), "");
  EXPECT_EQ(lines.Take(std::string(100, 'x')), "") << "the rest of it";
  EXPECT_EQ(lines.Take("\n2026-03-14T09:27:00Z " + std::string(60, 'y')),
            "2026-03-14T09:27:00Z " + std::string(60, 'y'));
}

TEST(LineWindow, TheLastLineCountsWithoutItsEnd) {
  LinesSince lines(At(kMoment), kZone);
  EXPECT_EQ(lines.Take("2026-03-14T09:27:00Z"), "");
  EXPECT_EQ(lines.Finish(), "2026-03-14T09:27:00Z");
  LinesSince none(At(kMoment), kZone);
  EXPECT_EQ(none.Take("no time here\n"), "");
  EXPECT_EQ(none.Finish(), "");
  EXPECT_FALSE(none.saw_time());
}

TEST(LineWindow, WithoutAMomentAllIsLetThrough) {
  LinesSince lines(std::nullopt, kZone);
  EXPECT_EQ(lines.Take("a\nb"), "a\nb");
}

}  // namespace
}  // namespace muster::cli
