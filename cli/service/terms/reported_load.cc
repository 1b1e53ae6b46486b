#include "cli/service/terms/reported_load.h"

#include <algorithm>
#include <cmath>

namespace muster::cli {

std::optional<double> ReportedLoad(const JobCurve& curve, const std::string& metric, Time from,
                                   Time to) {
  double sum = 0;
  double weight = 0;
  for (const ReportedCurve& reported : curve.reported) {
    if (reported.name != metric) {
      continue;
    }
    for (const ReportedPoint& point : reported.points) {
      const Duration within = std::min(to, point.start + point.span) - std::max(from, point.start);
      if (within > Duration(0) && std::isfinite(point.last)) {
        const auto counts = static_cast<double>(within.count());
        sum += point.last * counts;
        weight += counts;
      }
    }
  }
  return weight > 0 ? std::optional(sum / weight) : std::nullopt;
}

}  // namespace muster::cli
