#include "cli/scale/scale_page.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/page/shell_words.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "cli/scale/scale_fit.h"

namespace muster::cli {
namespace {

constexpr double kShortSeconds = 0.1;  // a start of processes is a part of these
constexpr double kWideSpread = 0.2;
constexpr double kShown = 0.0005;  // of a serial fraction: less is 0 on the page

std::string SizeText(const ScalingResult& result, int n) {
  return n == 1 ? absl::StrCat("1 ", result.unit.substr(0, result.unit.size() - 1))
                : absl::StrCat(n, " ", result.unit);
}

// The fit's sentence: what the law makes of the serial fraction.
std::string LawText(const ScalingResult& result, const ScaleFit& fit) {
  std::string text = absl::StrFormat("Serial fraction %.3f", fit.serial);
  if (result.scaling == Scaling::kWeak) {
    absl::StrAppend(&text,
                    absl::StrFormat(" (Gustafson): each further %s adds %.2f of the first",
                                    result.unit.substr(0, result.unit.size() - 1), 1 - fit.serial));
  } else if (fit.serial > 1 - kShown) {
    absl::StrAppend(&text, " (Amdahl): more ", result.unit, " do not make it faster");
  } else if (fit.serial < kShown) {
    absl::StrAppend(&text, " (Amdahl): nothing that was measured bounds the speed-up");
  } else {
    absl::StrAppend(&text, absl::StrFormat(" (Amdahl): never more than %.1f times as fast as one",
                                           1 / fit.serial));
  }
  if (result.points.size() == 2) {
    return absl::StrCat(text, "; two points cannot show whether the law holds.\n");
  }
  return absl::StrCat(
      text, absl::StrFormat("; the law misses these times by up to %.0f %%.\n", 100 * fit.misses));
}

std::string KneeText(const ScalingResult& result, double floor) {
  const int knee = KneeOf(result, floor);
  const auto past = std::find_if(result.points.begin(), result.points.end(),
                                 [&](const ScalingPoint& point) { return point.ranks > knee; });
  if (past == result.points.end()) {
    return absl::StrFormat("No knee up to %s: the efficiency stays at %.2f or more.\n",
                           SizeText(result, knee), floor);
  }
  const auto at = static_cast<std::size_t>(past - result.points.begin());
  return absl::StrFormat("Knee at %s: the efficiency of %d is %.2f, below %.2f.\n",
                         SizeText(result, knee), past->ranks, result.Efficiency(at), floor);
}

// What speaks against the figures; empty when nothing does.
std::string DoubtText(const ScalingRequest& request, const std::vector<ScalePoint>& points) {
  for (const ScalePoint& point : points) {
    if (request.measure.empty() && point.Median() < kShortSeconds) {
      return absl::StrFormat(
          "Too short to be relied upon: %d took %.3f s, of which starting it is a part.\n", point.n,
          point.Median());
    }
    if (point.Spread() > kWideSpread) {
      return absl::StrFormat(
          "Not to be relied upon: the runs of %d differ by %.0f %%; use a larger --repeat.\n",
          point.n, 100 * point.Spread());
    }
  }
  return "";
}

std::string ValueText(const ScalingRequest& request, double value) {
  return request.measure.empty() ? absl::StrFormat("%.3f", value) : absl::StrFormat("%.6g", value);
}

}  // namespace

std::string ScalePage(const ScalingRequest& request, const std::string& command,
                      const std::vector<ScalePoint>& points, const Style& style) {
  const ScalingResult result = ResultOf(request, command, points);
  const bool bars = style.width > 0;
  std::vector<Column> columns = {
      {.title = request.gpus ? "GPUS" : "RANKS", .right = true},
      {.title = request.measure.empty() ? "SECONDS" : "MEASURED", .right = true},
      {.title = "SPEEDUP", .right = true},
      {.title = "EFFICIENCY", .right = true}};
  if (request.repeat > 1) {
    columns.push_back({.title = "SPREAD", .right = true});
  }
  if (bars) {
    columns.push_back({.title = ""});
  }
  Table table(columns);
  for (std::size_t at = 0; at < points.size(); ++at) {
    const double efficiency = result.Efficiency(at);
    std::vector<Cell> cells = {{absl::StrCat(points[at].n)},
                               {ValueText(request, points[at].Median())},
                               {absl::StrFormat("%.2f", result.Speedup(at))},
                               {absl::StrFormat("%.2f", efficiency),
                                efficiency >= request.floor ? Paint::kGreen : Paint::kRed}};
    if (request.repeat > 1) {
      cells.push_back({absl::StrFormat("%.0f %%", 100 * points[at].Spread())});
    }
    if (bars) {
      cells.push_back({EfficiencyBar(efficiency, style)});
    }
    table.Add(cells);
  }
  std::string page = absl::StrCat(Printable(command), ", ", request.weak ? "weak" : "strong",
                                  " scaling over ", result.unit);
  if (request.repeat > 1) {
    absl::StrAppend(&page, ", medians of ", request.repeat, " runs");
  }
  absl::StrAppend(&page, "\n", table.Print(style));
  const absl::StatusOr<ScaleFit> fit = FitScaling(result);
  return absl::StrCat(page, fit.ok() ? LawText(result, *fit) : "", KneeText(result, request.floor),
                      DoubtText(request, points));
}

Json ScalingDocument(const ScalingRequest& request, const std::vector<std::string>& command,
                     const std::vector<ScalePoint>& points) {
  const ScalingResult result = ResultOf(request, ShellWords(command), points);
  Json rows = Json::array();
  for (std::size_t at = 0; at < points.size(); ++at) {
    Json runs = Json::array();
    for (const ScaleRun& run : points[at].runs) {
      runs.push_back({{"job", run.job.value()}, {"step", run.step.value()}, {"value", run.value}});
    }
    rows.push_back({{"n", points[at].n},
                    {"value", points[at].Median()},
                    {"speedup", result.Speedup(at)},
                    {"efficiency", result.Efficiency(at)},
                    {"runs", runs}});
  }
  const absl::StatusOr<ScaleFit> fit = FitScaling(result);
  const int knee = KneeOf(result, request.floor);
  return {{"command", command},
          {"scaling", request.weak ? "weak" : "strong"},
          {"over", request.gpus ? "gpus" : "ranks"},
          {"measure", request.measure.empty() ? Json(nullptr) : Json(request.measure)},
          {"higher_is_better", request.higher_is_better},
          {"points", rows},
          {"law", request.weak ? "gustafson" : "amdahl"},
          {"serial_fraction", fit.ok() ? Json(fit->serial) : Json(nullptr)},
          {"fit_error", fit.ok() ? Json(fit->misses) : Json(nullptr)},
          {"floor", request.floor},
          {"knee", knee},
          {"knee_is_last", knee == points.back().n}};
}

}  // namespace muster::cli
