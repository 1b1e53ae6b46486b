#include "agent/kernels/harness/check.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace muster::kernels {

double ErrorOf(double actual, double expected) {
  if (actual == expected) {
    return 0;
  }
  const double error = std::abs(actual - expected);
  return error >= 0 ? error : std::numeric_limits<double>::infinity();
}

void Check::Hold(const std::string& what, double error, double tolerance) {
  ++cases_;
  const double counted = error >= 0 ? error : std::numeric_limits<double>::infinity();
  max_error_ = std::max(max_error_, counted);
  if (counted > 0) {
    const double share =
        tolerance > 0 ? counted / tolerance : std::numeric_limits<double>::infinity();
    worst_ = std::max(worst_, share);
  }
  if (counted > tolerance && failure_.empty()) {
    std::ostringstream text;
    text << what << ": error " << counted << ", tolerance " << tolerance;
    failure_ = text.str();
  }
}

}  // namespace muster::kernels
