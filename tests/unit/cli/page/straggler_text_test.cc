#include "cli/page/straggler_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StragglerText, WhatWasFoundIsSaidWithSinceWhenAndOfHowManyByWhat) {
  StragglersView view;
  view.ranks = 8;
  view.judged = 7;
  view.measures = {"gpu_clock", "cpu_time", "progress"};
  view.unknown = {"1 of 8 ranks: nothing is known", "CPU clock: the kernel tells none"};
  EXPECT_THAT(StragglerLines(view, {}), IsEmpty());
  EXPECT_EQ(PeersText(view),
            "none of 7 ranks slower over the last minute, by GPU clock, CPU time, progress");
  EXPECT_EQ(UnjudgedText(view), "1 of 8 ranks: nothing is known; CPU clock: the kernel tells none");
  StragglerView& slow = view.found.emplace_back();
  slow.text = "rank 3 on n2: GPU clock 1395 MHz";
  slow.since = Time(std::chrono::hours(12));
  EXPECT_THAT(StragglerLines(view, {}),
              ElementsAre("rank 3 on n2: GPU clock 1395 MHz; since 1970-01-01 12:00:00"));
  EXPECT_EQ(PeersText(view),
            "1 of 7 ranks slower over the last minute, by GPU clock, CPU time, progress");
}

TEST(StragglerText, WhatCannotBeToldSaysWhy) {
  StragglersView view;
  view.ranks = 2;
  view.unknown = {"2 of 2 ranks: looked at for less than a minute"};
  EXPECT_EQ(PeersText(view), "cannot tell yet: 2 of 2 ranks: looked at for less than a minute");
  EXPECT_EQ(UnjudgedText(view), "") << "it is said once";
}

}  // namespace
}  // namespace muster::cli
