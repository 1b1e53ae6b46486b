#include "cli/sheet/timeline/curve_sheet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "scheduler/model/view/curve.h"

namespace muster::cli {
namespace {

JobCurve Ramp(std::size_t points) {
  JobCurve curve{JobId(7), "7", {}};
  for (std::size_t i = 0; i < points; ++i) {
    CurvePoint point;
    point.start = Time(std::chrono::hours(500'000) + std::chrono::seconds(10 * i));
    point.span = std::chrono::seconds(10);
    point.cpus = static_cast<double>(i);
    curve.points.push_back(point);
  }
  return curve;
}

TEST(CurveSheetTest, DrawsWhatWasUsedAndLeavesOutWhatWasNot) {
  EXPECT_EQ(PrintCurve(Ramp(8), Style()),
            "job 7, 2027-01-15 08:00:00 to 2027-01-15 08:01:20\n"
            "CPUs       ▁▂▃▄▅▆▇█  mean 3.50, at most 7.00\n");
}

TEST(CurveSheetTest, ATimeOfWhichNobodyCouldTellIsAGapAndNoPartOfTheMean) {
  JobCurve curve = Ramp(4);
  curve.points[1].read = 1024;
  curve.points[2].read = 3072;
  curve.points[2].sm_active = 0.5;
  EXPECT_EQ(PrintCurve(curve, Style()),
            "job 7, 2027-01-15 08:00:00 to 2027-01-15 08:00:40\n"
            "CPUs       ▁▃▆█  mean 1.50, at most 3.00\n"
            "read        ▃█   mean 2 KiB/s, at most 3 KiB/s\n"
            "SMs          █   mean 50 %, at most 50 %\n");
}

TEST(CurveSheetTest, ManyPointsShareColumns) {
  const std::string page = PrintCurve(Ramp(1'000), Style());
  for (std::size_t begin = 0; begin < page.size();) {
    const std::size_t end = page.find('\n', begin);
    const std::string line = page.substr(begin, end - begin);
    EXPECT_LE(std::count_if(
                  line.begin(), line.end(),
                  [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }),
              120)
        << line;
    begin = end + 1;
  }
  EXPECT_EQ(PrintCurve({JobId(9), "9", {}}, Style()), "job 9: no samples yet\n");
}

}  // namespace
}  // namespace muster::cli
