#include "cli/scale/scale_fit.h"

#include <algorithm>
#include <cmath>

namespace muster::cli {
namespace {

// T(n) = a + b/n.
struct SharedTime {
  double a = 0;
  double b = 0;
  [[nodiscard]] double At(double n) const { return a + b / n; }
};

// The least squares of T = a + b x with x = 1/n; where one of them would be below 0, without it.
SharedTime FitShared(const std::vector<ScalingPoint>& points) {
  const auto count = static_cast<double>(points.size());
  double x = 0;
  double t = 0;
  double xx = 0;
  double xt = 0;
  for (const ScalingPoint& point : points) {
    const double share = 1.0 / point.ranks;
    x += share;
    t += point.seconds;
    xx += share * share;
    xt += share * point.seconds;
  }
  const double b = (count * xt - x * t) / (count * xx - x * x);
  const double a = (t - b * x) / count;
  if (b < 0) {
    return {.a = t / count, .b = 0};
  }
  if (a < 0) {
    return {.a = 0, .b = xt / xx};
  }
  return {.a = a, .b = b};
}

// The least squares of S = n - s (n - 1).
double FitSerial(const ScalingResult& result) {
  double above = 0;
  double below = 0;
  for (std::size_t at = 0; at < result.points.size(); ++at) {
    const double added = result.points[at].ranks - 1.0;
    above += added * (result.points[at].ranks - result.Speedup(at));
    below += added * added;
  }
  return std::clamp(above / below, 0.0, 1.0);
}

}  // namespace

absl::StatusOr<ScaleFit> FitScaling(const ScalingResult& result) {
  const std::vector<ScalingPoint>& points = result.points;
  if (points.size() < 2) {
    return absl::InvalidArgumentError("too few points to say how it scales: measure two or more");
  }
  ScaleFit fit;
  const auto miss = [&fit](double fitted, double measured) {
    fit.misses = std::max(fit.misses, std::abs(fitted - measured) / measured);
  };
  if (result.scaling == Scaling::kStrong) {
    const SharedTime shared = FitShared(points);
    fit.serial = shared.a / (shared.a + shared.b);
    for (const ScalingPoint& point : points) {
      miss(shared.At(point.ranks), point.seconds);
    }
    return fit;
  }
  fit.serial = FitSerial(result);
  for (const ScalingPoint& point : points) {
    const double n = point.ranks;
    miss(n * points.front().seconds / (n - fit.serial * (n - 1)), point.seconds);
  }
  return fit;
}

int KneeOf(const ScalingResult& result, double floor) {
  // An efficiency that is the floor but for the last bits of a division is the floor.
  constexpr double kRounding = 1e-9;
  int knee = result.points.front().ranks;
  for (std::size_t at = 0; at < result.points.size(); ++at) {
    if (result.Efficiency(at) < floor - kRounding) {
      break;
    }
    knee = result.points[at].ranks;
  }
  return knee;
}

}  // namespace muster::cli
