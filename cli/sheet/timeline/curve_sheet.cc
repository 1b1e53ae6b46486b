#include "cli/sheet/timeline/curve_sheet.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/page/quantity.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kCourseWidth = 60;
constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* kLetters[] = {"_", ".", "-", "~", "=", "+", "*", "#"};

using CurveValue = std::function<double(const CurvePoint&)>;
using CurveText = std::function<std::string(double)>;

// The points' values over equal columns of time; below zero: nothing is known.
std::vector<double> CourseColumns(const JobCurve& curve, const CurveValue& value) {
  const Time begin = curve.points.front().start;
  const Time end = curve.points.back().start + curve.points.back().span;
  const auto all = static_cast<double>((end - begin).count());
  std::vector<double> columns(std::min<std::size_t>(kCourseWidth, curve.points.size()), -1);
  for (const CurvePoint& point : curve.points) {
    const auto at = static_cast<double>((point.start + point.span / 2 - begin).count()) / all;
    const auto column = static_cast<std::size_t>(at * static_cast<double>(columns.size()));
    double& shown = columns[std::min(column, columns.size() - 1)];
    shown = std::max(shown, value(point));
  }
  return columns;
}

std::string Course(const std::vector<double>& columns, double most, bool unicode) {
  std::string course;
  for (const double value : columns) {
    const auto step = static_cast<std::size_t>(std::lround(7 * std::max(value, 0.0) / most));
    course += value < 0 ? " "
              : unicode ? kBlocks[std::min<std::size_t>(step, 7)]
                        : kLetters[std::min<std::size_t>(step, 7)];
  }
  return course;
}

void AddCourse(const JobCurve& curve, const std::string& name, const CurveValue& value,
               const CurveText& text, const Style& style, std::string& page) {
  double most = 0;
  double sum = 0;
  double time = 0;
  for (const CurvePoint& point : curve.points) {
    if (value(point) >= 0) {
      most = std::max(most, value(point));
      sum += value(point) * static_cast<double>(point.span.count());
      time += static_cast<double>(point.span.count());
    }
  }
  if (most > 0) {
    absl::StrAppend(&page, absl::StrFormat("%-11s", name),
                    Course(CourseColumns(curve, value), most, style.utf8), "  mean ",
                    text(sum / time), ", at most ", text(most), "\n");
  }
}

std::string RateText(double value) {
  return value < 10 ? absl::StrFormat("%.2f", value) : absl::StrFormat("%.0f", value);
}

std::string MemoryText(double value) {
  return BytesText(static_cast<std::uint64_t>(value));
}

// Courses of what some nodes cannot tell: a point has it or nothing.
struct ToldCourse {
  const char* name;
  std::optional<double> CurvePoint::*value;
  std::string (*text)(double);
};
constexpr ToldCourse kToldCourses[] = {
    {"power", &CurvePoint::watts, [](double watts) { return RateText(watts) + " W"; }},
    {"read", &CurvePoint::read, ByteRateText},
    {"written", &CurvePoint::written, ByteRateText},
    {"I/O waits", &CurvePoint::io_blocked, RateText},
    {"SMs", &CurvePoint::sm_active, PercentText},
    {"tensor", &CurvePoint::tensor_active, PercentText},
    {"GPU band", &CurvePoint::dram_active, PercentText},
    {"links", &CurvePoint::link, ByteRateText},
    {"sent", &CurvePoint::sent, ByteRateText},
    {"received", &CurvePoint::received, ByteRateText},
    {"net busy", &CurvePoint::net_blocked, RateText},
};

// Its course between its least and its most, which need not be near to nothing.
void AddReported(const ReportedCurve& curve, const Style& style, std::string& page) {
  std::string course;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  if (!curve.points.empty()) {
    const Time begin = curve.points.front().start;
    const Time end = curve.points.back().start + curve.points.back().span;
    std::vector<double> columns(std::min<std::size_t>(kCourseWidth, curve.points.size()),
                                std::numeric_limits<double>::quiet_NaN());
    for (const ReportedPoint& point : curve.points) {
      low = std::min(low, point.low);
      high = std::max(high, point.high);
      columns[std::min(columns.size() - 1,
                       columns.size() * static_cast<std::size_t>((point.start - begin).count()) /
                           static_cast<std::size_t>((end - begin).count()))] = point.last;
    }
    for (double& column : columns) {
      column = std::isnan(column) ? -1 : column - low;
    }
    course = Course(columns, std::max(high - low, 1e-300), style.utf8);
  }
  absl::StrAppend(&page, absl::StrFormat("%-11s", curve.name), course, "  last ",
                  absl::StrFormat("%g", curve.last),
                  low > high ? "" : absl::StrFormat(", from %g to %g", low, high), "\n");
}

}  // namespace

std::string PrintCurve(const JobCurve& curve, const Style& style) {
  if (curve.points.empty()) {
    return absl::StrCat("job ", curve.label, ": no samples yet\n");
  }
  const CurvePoint& last = curve.points.back();
  std::string page =
      absl::StrCat("job ", curve.label, ", ", MomentText(curve.points.front().start, style.zone),
                   " to ", MomentText(last.start + last.span, style.zone), "\n");
  AddCourse(
      curve, "CPUs", [](const CurvePoint& point) { return point.cpus; }, RateText, style, page);
  AddCourse(
      curve, "memory",
      [](const CurvePoint& point) { return static_cast<double>(point.memory.value()); }, MemoryText,
      style, page);
  AddCourse(
      curve, "GPUs", [](const CurvePoint& point) { return point.gpus; }, RateText, style, page);
  AddCourse(
      curve, "GPU memory",
      [](const CurvePoint& point) { return static_cast<double>(point.gpu_memory.value()); },
      MemoryText, style, page);
  for (const ToldCourse& told : kToldCourses) {
    AddCourse(
        curve, told.name, [&](const CurvePoint& point) { return (point.*told.value).value_or(-1); },
        told.text, style, page);
  }
  for (const ReportedCurve& reported : curve.reported) {
    AddReported(reported, style, page);
  }
  return page;
}

}  // namespace muster::cli
