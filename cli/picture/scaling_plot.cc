#include "cli/picture/scaling_plot.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/page/table.h"
#include "cli/picture/svg.h"

namespace muster::cli {
namespace {

constexpr std::size_t kBarColumns = 20;
constexpr double kPays = 0.5;
constexpr double kSteady = 1.5;  // median over best
// The picture, in its own units.
constexpr double kLeft = 60;
constexpr double kTop = 50;
constexpr double kWidth = 420;
constexpr double kHeight = 280;
constexpr double kPlotFont = 12;

Paint PaintOf(double efficiency) {
  if (efficiency >= 0.8) {
    return Paint::kGreen;
  }
  return efficiency >= kPays ? Paint::kYellow : Paint::kRed;
}

std::string Verdict(const ScalingResult& result) {
  const int last = result.points.back().ranks;
  const int pays = result.PaysUpTo();
  if (pays == last) {
    return absl::StrCat("It pays up to ", last, ", the largest number tried.");
  }
  return absl::StrCat("It stops paying after ", pays,
                      ": beyond, less than half of what is added arrives.");
}

// What speaks against the figures; empty when nothing does.
std::string Doubt(const ScalingResult& result) {
  for (const ScalingPoint& point : result.points) {
    if (point.best > 0 && point.seconds > kSteady * point.best) {
      return absl::StrFormat(
          "Not to be relied upon: the best repeat of %d took %.6f s, the median %.6f s: others use "
          "this machine, or it has fewer cores.\n",
          point.ranks, point.best, point.seconds);
    }
  }
  return "";
}

const char* Name(Scaling scaling) {
  return scaling == Scaling::kStrong ? "strong" : "weak";
}

}  // namespace

double ScalingResult::Speedup(std::size_t at) const {
  const ScalingPoint& first = points.front();
  const ScalingPoint& point = points[at];
  const double growth = static_cast<double>(point.ranks) / static_cast<double>(first.ranks);
  const double faster = first.seconds / point.seconds;
  if (first.bytes > 0 && point.bytes > 0) {
    return growth * point.bytes / first.bytes * faster;
  }
  return scaling == Scaling::kWeak ? growth * faster : faster;
}

double ScalingResult::Efficiency(std::size_t at) const {
  return Speedup(at) * static_cast<double>(points.front().ranks) /
         static_cast<double>(points[at].ranks);
}

int ScalingResult::PaysUpTo() const {
  int ranks = points.front().ranks;
  for (std::size_t at = 0; at < points.size() && Efficiency(at) >= kPays; ++at) {
    ranks = points[at].ranks;
  }
  return ranks;
}

std::string EfficiencyBar(double efficiency, const Style& style) {
  const double whole = std::clamp(efficiency, 0.0, 1.0) * static_cast<double>(kBarColumns);
  const auto full = static_cast<std::size_t>(std::lround(whole));
  std::string bar;
  for (std::size_t i = 0; i < kBarColumns; ++i) {
    bar += i < full ? (style.utf8 ? "█" : "#") : (style.utf8 ? "░" : ".");
  }
  return bar;
}

std::string ScalingPage(const ScalingResult& result, const Style& style) {
  Table table({{.title = result.unit == "ranks" ? "RANKS" : "THREADS", .right = true},
               {.title = "SECONDS", .right = true},
               {.title = "SPEEDUP", .right = true},
               {.title = "EFFICIENCY", .right = true},
               {.title = "COMM", .right = true},
               {.title = ""}});
  for (std::size_t at = 0; at < result.points.size(); ++at) {
    const ScalingPoint& point = result.points[at];
    const double efficiency = result.Efficiency(at);
    const std::string communication =
        point.communication_share ? absl::StrFormat("%.0f %%", 100 * *point.communication_share)
                                  : "-";
    table.Add({{absl::StrCat(point.ranks)},
               {absl::StrFormat("%.6f", point.seconds)},
               {absl::StrFormat("%.2f", result.Speedup(at))},
               {absl::StrFormat("%.2f", efficiency), PaintOf(efficiency)},
               {communication},
               {EfficiencyBar(efficiency, style)}});
  }
  return absl::StrCat(result.kernel, ", ", Name(result.scaling), " scaling\n", table.Print(style),
                      Verdict(result), "\n", Doubt(result));
}

std::string ScalingPicture(const ScalingResult& result) {
  const double most = static_cast<double>(result.points.back().ranks) /
                      static_cast<double>(result.points.front().ranks);
  const double span = std::max(most, 1.0);
  const auto x_of = [&](double growth) { return kLeft + kWidth * growth / span; };
  const auto y_of = [&](double speedup) {
    return kTop + kHeight * (1 - std::min(speedup, span) / span);
  };
  Svg svg;
  svg.AddText(kLeft, kTop - 24, absl::StrCat(result.kernel, ", ", Name(result.scaling), " scaling"),
              {kPlotFont + 2, "start", "#222", true});
  svg.AddLine(kLeft, kTop + kHeight, kLeft + kWidth, kTop + kHeight, "#222", 1);
  svg.AddLine(kLeft, kTop, kLeft, kTop + kHeight, "#222", 1);
  svg.AddLine(x_of(0), y_of(0), x_of(span), y_of(span), "#bbb", 1);
  svg.AddText(x_of(span), y_of(span) - 4, "ideal", {kPlotFont, "end", "#888"});
  for (std::size_t at = 0; at < result.points.size(); ++at) {
    const double growth = static_cast<double>(result.points[at].ranks) /
                          static_cast<double>(result.points.front().ranks);
    const double speedup = result.Speedup(at);
    if (at > 0) {
      const double before = static_cast<double>(result.points[at - 1].ranks) /
                            static_cast<double>(result.points.front().ranks);
      svg.AddLine(x_of(before), y_of(result.Speedup(at - 1)), x_of(growth), y_of(speedup),
                  OwnerColour(0), 2);
    }
    svg.AddBox({x_of(growth) - 3, y_of(speedup) - 3, 6, 6}, OwnerColour(0), "#222",
               absl::StrFormat("%d %s: %.6f s, efficiency %.2f", result.points[at].ranks,
                               result.unit, result.points[at].seconds, result.Efficiency(at)));
    svg.AddText(x_of(growth), kTop + kHeight + 16, absl::StrCat(result.points[at].ranks),
                {kPlotFont, "middle"});
    svg.AddText(x_of(growth), y_of(speedup) - 8, absl::StrFormat("%.2f", speedup),
                {kPlotFont, "middle"});
  }
  svg.AddText(kLeft + kWidth / 2, kTop + kHeight + 36, result.unit, {kPlotFont, "middle"});
  svg.AddText(kLeft - 8, kTop - 6, "speed-up", {kPlotFont, "middle"});
  return svg.Document(absl::StrCat("how ", result.kernel, " scales"));
}

}  // namespace muster::cli
