#include "checkpoint/failure_rate.h"

#include <math.h>  // lgamma_r, which is not in C++

#include <algorithm>
#include <cmath>
#include <limits>

namespace muster::checkpoint {
namespace {

constexpr int kTermsMax = 10'000;
constexpr double kPrecision = 1e-15;

// x^a e^-x / Gamma(a).
double LeadingFactor(double a, double x) {
  int sign = 0;
  return std::exp(a * std::log(x) - x - lgamma_r(a, &sign));
}

// The regularised lower incomplete gamma function P(a, x): its series below a + 1 (Abramowitz and
// Stegun 6.5.29), one minus the continued fraction of Q (6.5.31, by Lentz's method) above.
double LowerGamma(double a, double x) {
  if (x <= 0) {
    return 0;
  }
  if (x < a + 1) {
    double term = 1 / a;
    double sum = term;
    for (int n = 1; n < kTermsMax && term > sum * kPrecision; ++n) {
      term *= x / (a + n);
      sum += term;
    }
    return LeadingFactor(a, x) * sum;
  }
  double b = x + 1 - a;
  double c = 1 / std::numeric_limits<double>::min();
  double d = 1 / b;
  double fraction = d;
  for (int n = 1; n < kTermsMax; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    fraction *= c * d;
    if (std::abs(c * d - 1) < kPrecision) {
      break;
    }
  }
  return 1 - LeadingFactor(a, x) * fraction;
}

}  // namespace

FailureRate Learn(const FailureRate& prior, double failures, double node_hours) {
  return {prior.shape + failures, prior.exposure_h + node_hours};
}

FailureRate Age(const FailureRate& rate, const FailureRate& floor, double days, double daily) {
  const double kept = std::pow(daily, days);
  return {std::max(floor.shape, rate.shape * kept),
          std::max(floor.exposure_h, rate.exposure_h * kept)};
}

double MeanRate(const FailureRate& rate) {
  return rate.shape / rate.exposure_h;
}

double MeanNodeMtbf(const FailureRate& rate) {
  return rate.shape > 1 ? rate.exposure_h / (rate.shape - 1)
                        : std::numeric_limits<double>::infinity();
}

double JobMtbf(const FailureRate& rate, double nodes) {
  return rate.exposure_h / (nodes * rate.shape);
}

double NoFailureProbability(const FailureRate& rate, double nodes, double hours) {
  return std::pow(rate.exposure_h / (rate.exposure_h + nodes * hours), rate.shape);
}

double RateQuantile(const FailureRate& rate, double p) {
  double low = 0;
  double high = rate.shape + 1;
  while (LowerGamma(rate.shape, high) < p) {
    high *= 2;
  }
  constexpr int kHalvings = 2000;  // far below the smallest normal number, if it must be
  for (int i = 0; i < kHalvings && high - low > 1e-13 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (LowerGamma(rate.shape, middle) < p ? low : high) = middle;
  }
  return (low + (high - low) / 2) / rate.exposure_h;
}

RateBounds CredibleRates(const FailureRate& rate, double credible) {
  const double tail = (1 - credible) / 2;
  return {RateQuantile(rate, tail), RateQuantile(rate, 1 - tail)};
}

}  // namespace muster::checkpoint
