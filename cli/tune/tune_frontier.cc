#include "cli/tune/tune_frontier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/tune/tune_search.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/flat/policy_names.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kHoursOfYears = std::int64_t{24} * 3650;
constexpr std::array<std::int64_t, 11> kSlackHours = {
    0, 1, 2, 4, 8, 12, 24, 48, 96, 192, kHoursOfYears};

constexpr double kWidth = 640;
constexpr double kHeight = 420;
constexpr double kLeft = 70;
constexpr double kRight = 24;
constexpr double kTop = 44;
constexpr double kBottom = 54;

TuneSettings Baseline(const char* name, const char* backfill) {
  TuneSettings settings;
  settings.name = name;
  settings.policy = *sim::ParseFlatPolicy(name);
  if (*backfill != '\0') {
    settings.policy.backfill = *sim::ParseBackfill(backfill);
    settings.name = absl::StrCat(name, "+", backfill);
  }
  return settings;
}

// A logarithmic axis.
class Axis {
 public:
  Axis(double least, double most, double from, double to) : from_(from), to_(to) {
    least_ = std::log10(std::max(least, 1e-3)) - 0.05;
    most_ = std::max(std::log10(std::max(most, 1e-3)) + 0.05, least_ + 0.1);
  }
  [[nodiscard]] double At(double value) const {
    const double share = (std::log10(std::max(value, 1e-3)) - least_) / (most_ - least_);
    return from_ + share * (to_ - from_);
  }
  // 1, 2 and 5 times powers of ten.
  [[nodiscard]] std::vector<double> Ticks() const {
    std::vector<double> ticks;
    for (double power = std::pow(10, std::floor(least_)); std::log10(power) <= most_; power *= 10) {
      for (const double step : {1.0, 2.0, 5.0}) {
        const double tick = power * step;
        if (std::log10(tick) >= least_ && std::log10(tick) <= most_) {
          ticks.push_back(tick);
        }
      }
    }
    return ticks;
  }

 private:
  double from_;
  double to_;
  double least_ = 0;
  double most_ = 0;
};

double LongestHours(const FrontierPoint& point) {
  return static_cast<double>(point.measures.longest) / kHour;
}

Axis AxisOf(const std::vector<FrontierPoint>& points, double (*value)(const FrontierPoint&),
            double from, double to) {
  double least = value(points.front());
  double most = least;
  for (const FrontierPoint& point : points) {
    least = std::min(least, value(point));
    most = std::max(most, value(point));
  }
  return {least, most, from, to};
}

void AddText(double x, double y, const char* anchor, const std::string& text, std::string* svg) {
  absl::StrAppend(svg,
                  absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor),
                  text, "</text>\n");
}

void AddAxes(const Axis& x, const Axis& y, std::string* svg) {
  for (const double tick : x.Ticks()) {
    absl::StrAppend(svg, absl::StrFormat("<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n",
                                         x.At(tick), kTop, kHeight - kBottom));
    AddText(x.At(tick), kHeight - kBottom + 16, "middle", absl::StrFormat("%g", tick), svg);
  }
  for (const double tick : y.Ticks()) {
    absl::StrAppend(svg, absl::StrFormat("<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", kLeft,
                                         y.At(tick), kWidth - kRight));
    AddText(kLeft - 6, y.At(tick) + 4, "end", absl::StrFormat("%g", tick), svg);
  }
  AddText((kLeft + kWidth - kRight) / 2, kHeight - 14, "middle", "longest wait (h)", svg);
  absl::StrAppend(svg, absl::StrFormat("<text transform=\"translate(16 %.1f) rotate(-90)\" "
                                       "text-anchor=\"middle\">mean bounded slowdown</text>\n",
                                       (kTop + kHeight - kBottom) / 2));
}

}  // namespace

absl::StatusOr<std::vector<FrontierPoint>> RunFrontier(const TuneWorkload& workload,
                                                       const TuneSettings& settings,
                                                       std::uint32_t threads,
                                                       std::atomic<bool>& stop,
                                                       TuneResults& results) {
  std::vector<TuneSettings> all;
  std::vector<FrontierPoint> points;
  for (const std::int64_t hours : kSlackHours) {
    all.push_back(WithSlack(settings, hours * kHour));
    const bool never = hours == kSlackHours.back();
    points.push_back({never ? "no promise" : absl::StrCat(hours, "h"), {}, true});
  }
  for (TuneSettings baseline : {Baseline("easy", ""), Baseline("easy-sjbf", ""),
                                Baseline("conservative", ""), Baseline("f1", "easy")}) {
    points.push_back({baseline.name, {}, false});
    all.push_back(std::move(baseline));
  }
  ASSIGN_OR_RETURN(const std::vector<TuneTrial> trials,
                   RunTrials(workload, all, threads, stop, results, [](std::size_t) {}));
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].measures = trials[i].all;
  }
  return points;
}

std::string FrontierSvg(const std::string& title, const std::vector<FrontierPoint>& points) {
  const Axis x = AxisOf(points, LongestHours, kLeft, kWidth - kRight);
  const Axis y = AxisOf(
      points, [](const FrontierPoint& point) { return point.measures.slowdown; }, kHeight - kBottom,
      kTop);
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\">\n"
      "<style>text{font:12px sans-serif;fill:#222}.grid{stroke:#ddd}.curve{fill:none;"
      "stroke:#06c;stroke-width:1.5}.prompt{fill:#06c}.other{fill:#c40}</style>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      kWidth, kHeight);
  AddText(kLeft, 22, "start", title, &svg);
  AddAxes(x, y, &svg);
  std::string curve;
  for (const FrontierPoint& point : points) {
    if (point.on_curve) {
      absl::StrAppend(
          &curve, curve.empty() ? "M" : "L",
          absl::StrFormat("%.1f %.1f", x.At(LongestHours(point)), y.At(point.measures.slowdown)));
    }
  }
  absl::StrAppend(&svg, "<path class=\"curve\" d=\"", curve, "\"/>\n");
  for (const FrontierPoint& point : points) {
    const double at = x.At(LongestHours(point));
    const double height = y.At(point.measures.slowdown);
    absl::StrAppend(&svg,
                    absl::StrFormat("<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n",
                                    point.on_curve ? "prompt" : "other", at, height));
    const bool at_right = at > kWidth - 90;
    AddText(at_right ? at - 6 : at + 6, height - 5, at_right ? "end" : "start", point.label, &svg);
  }
  return svg + "</svg>\n";
}

}  // namespace muster::cli
