#pragma once

// How often nodes fail, learned from what was seen: Gamma–Poisson.
//
// The failure rate per node-hour has a Gamma prior; k failures in T node-hours make it Gamma(a + k,
// b + T) (A. Gelman et al., Bayesian Data Analysis, 3rd ed., section 2.6). Exposure without a
// failure counts as much as exposure with one. Thread promise: pure functions. Invariants: shape
// and exposure stay positive; a value that does not exist is infinite, never negative.

namespace muster::checkpoint {

// Gamma(shape, exposure): mean shape / exposure_h failures per node-hour.
struct FailureRate {
  double shape = 1;       // as if that many failures had been seen
  double exposure_h = 1;  // node-hours
};

struct RateBounds {
  double low = 0;  // failures per node-hour
  double high = 0;
};

// The belief after `failures` more in `node_hours` more. REQUIRES: neither is negative.
FailureRate Learn(const FailureRate& prior, double failures, double node_hours);

// The belief `days` later, forgetting a part 1 - daily of what is known each day (0.98 remembers 50
// days), and never less than `floor`, the prior.
FailureRate Age(const FailureRate& rate, const FailureRate& floor, double days, double daily);

// Failures per node-hour: the mean.
double MeanRate(const FailureRate& rate);

// Hours between failures of one node: the mean of 1/rate, infinite unless shape > 1.
double MeanNodeMtbf(const FailureRate& rate);

// Hours between failures of a job on `nodes` nodes, for interval.h: exposure / (nodes shape).
double JobMtbf(const FailureRate& rate, double nodes);

// The probability that none of `nodes` nodes fails in `hours`: the predictive one, which knows that
// the rate is not known, ((b + T) / (b + T + N t))^(a + k).
double NoFailureProbability(const FailureRate& rate, double nodes, double hours);

// The interval that holds the rate with probability `credible` (0.9: from the 5th to the 95th
// percentile). REQUIRES: 0 < credible < 1.
RateBounds CredibleRates(const FailureRate& rate, double credible);

// The p-quantile of Gamma(shape, exposure), to 1e-12 of itself. REQUIRES: 0 < p < 1.
double RateQuantile(const FailureRate& rate, double p);

}  // namespace muster::checkpoint
