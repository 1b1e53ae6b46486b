#include "cli/scale/scale_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// s = 0.25 of 8 s.
const std::vector<ScalePoint> kPoints = {{.n = 1, .runs = {{JobId(1), StepId(1), 8}}},
                                         {.n = 2, .runs = {{JobId(2), StepId(1), 5}}},
                                         {.n = 4, .runs = {{JobId(3), StepId(1), 3.5}}}};

TEST(ScalePageTest, HasATableTheLawAndTheKnee) {
  EXPECT_EQ(ScalePage({.max = 4}, "./solve", kPoints, Style()),
            "./solve, strong scaling over ranks\n"
            "RANKS  SECONDS  SPEEDUP  EFFICIENCY\n"
            "    1    8.000     1.00        1.00\n"
            "    2    5.000     1.60        0.80\n"
            "    4    3.500     2.29        0.57\n"
            "Serial fraction 0.250 (Amdahl): never more than 4.0 times as fast as one; the law "
            "misses these times by up to 0 %.\n"
            "Knee at 2 ranks: the efficiency of 4 is 0.57, below 0.70.\n");
}

TEST(ScalePageTest, AllOrNothingSerialIsSaidInWords) {
  const std::vector<ScalePoint> slower = {{.n = 1, .runs = {{.value = 3}}},
                                          {.n = 2, .runs = {{.value = 4}}}};
  EXPECT_THAT(ScalePage({}, "x", slower, Style()),
              HasSubstr("Serial fraction 1.000 (Amdahl): more ranks do not make it faster;"));
  const std::vector<ScalePoint> perfect = {{.n = 1, .runs = {{.value = 4}}},
                                           {.n = 2, .runs = {{.value = 2}}}};
  EXPECT_THAT(ScalePage({}, "x", perfect, Style()),
              HasSubstr("Serial fraction 0.000 (Amdahl): nothing that was measured bounds"));
}

TEST(ScalePageTest, ATerminalSeesBars) {
  Style terminal;
  terminal.width = 100;
  EXPECT_THAT(ScalePage({.max = 4}, "./solve", kPoints, terminal),
              HasSubstr("0.80  ████████████████░░░░\n"));
}

TEST(ScalePageTest, WithoutAKneeItSaysUpToWhere) {
  EXPECT_THAT(ScalePage({.gpus = true, .floor = 0.5}, "./solve", kPoints, Style()),
              HasSubstr("No knee up to 4 GPUs: the efficiency stays at 0.50 or more.\n"));
}

TEST(ScalePageTest, WeakScalingSaysWhatARankAdds) {
  const std::vector<ScalePoint> points = {{.n = 1, .runs = {{.value = 10}}},
                                          {.n = 2, .runs = {{.value = 20 / 1.8}}}};
  const std::string page = ScalePage({.weak = true}, "./solve", points, Style());
  EXPECT_THAT(page, HasSubstr("(Gustafson): each further rank adds 0.80 of the first"));
  EXPECT_THAT(page, HasSubstr("two points cannot show whether the law holds"));
}

TEST(ScalePageTest, TellsWhenTheFiguresAreNotToBeReliedUpon) {
  EXPECT_THAT(ScalePage({}, "x", kPoints, Style()), Not(HasSubstr("relied upon")));
  const std::vector<ScalePoint> shaken = {{.n = 1, .runs = {{.value = 8}, {.value = 11}}},
                                          {.n = 2, .runs = {{.value = 5}, {.value = 5}}}};
  EXPECT_THAT(ScalePage({.repeat = 2}, "x", shaken, Style()),
              HasSubstr("the runs of 1 differ by 32 %"));
  const std::vector<ScalePoint> fast = {{.n = 1, .runs = {{.value = 0.02}}},
                                        {.n = 2, .runs = {{.value = 0.02}}}};
  EXPECT_THAT(ScalePage({}, "x", fast, Style()), HasSubstr("Too short to be relied upon"));
  EXPECT_THAT(ScalePage({.measure = "x"}, "x", fast, Style()), Not(HasSubstr("relied upon")));
}

TEST(ScalePageTest, WhatOthersWroteIsPrintedSafely) {
  EXPECT_THAT(ScalePage({}, "\x1b[2J", kPoints, Style()), Not(HasSubstr("\x1b")));
}

TEST(ScaleDocumentTest, HasEveryRunAndTheFit) {
  const Json document = ScalingDocument({.max = 4}, {"./solve", "a b"}, kPoints);
  EXPECT_EQ(document["command"].dump(), R"(["./solve","a b"])");
  EXPECT_EQ(document["scaling"], "strong");
  EXPECT_EQ(document["law"], "amdahl");
  EXPECT_NEAR(document["serial_fraction"].get<double>(), 0.25, 1e-12);
  EXPECT_EQ(document["knee"], 2);
  EXPECT_EQ(document["knee_is_last"], false);
  EXPECT_EQ(document["points"][1]["efficiency"], 0.8);
  EXPECT_EQ(document["points"][2]["runs"].dump(), R"([{"job":3,"step":1,"value":3.5}])");
}

}  // namespace
}  // namespace muster::cli
