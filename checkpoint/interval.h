#pragma once

// How often to checkpoint: the work between two checkpoints that loses the least time to failures.
//
// Failures are exponential with mean time M between them, a checkpoint costs d, a restart R; all in
// seconds. Every interval here is the *work* between the end of one checkpoint and the beginning of
// the next, without d. Thread promise: pure functions. Invariants: a value comes back only when it
// is a number that means something; otherwise the error says why not.

namespace muster::checkpoint {

enum class IntervalError {
  kNone = 0,
  kNotANumber,   // an argument is NaN
  kNegative,     // a cost is negative, or infinite
  kNoFailures,   // M is infinite: never checkpoint but at the end
  kFreeOfCost,   // d is 0: the interval goes to 0; take the shortest one that is practical
  kFailsAlways,  // M is not positive, or so small that nothing would ever be done
};

// One line for a person.
const char* Text(IntervalError error);

struct FailureModel {
  double cost_s = 0;     // d: writing a checkpoint
  double mtbf_s = 0;     // M: mean time between failures of the whole job
  double restart_s = 0;  // R: from a failure to work again
};

// Seconds (or a ratio, for ExpectedRatio); `value` is 0 when `error` is not kNone.
struct Interval {
  double value = 0;
  IntervalError error = IntervalError::kNone;
  explicit operator bool() const { return error == IntervalError::kNone; }
};

// sqrt(2 d M). J. W. Young, A first order approximation to the optimum checkpoint interval, CACM
// 17(9), 1974. May be longer than M when d > M/2.
Interval Young(const FailureModel& model);

// sqrt(2 d (M + R)), the first-order form with restarts. J. T. Daly, A higher order estimate of the
// optimum checkpoint interval for restart dumps, FGCS 22(3), 2006, with the interval taken as work
// alone.
Interval DalyFirstOrder(const FailureModel& model);

// sqrt(2 d M) (1 + 1/3 sqrt(d / 2M) + 1/9 (d / 2M)) - d when d < 2M, else M. Daly 2006, eq. 37.
Interval DalyHigherOrder(const FailureModel& model);

// The optimum itself: M (1 + W0(-exp(-1 - d/M))), where W0 is Lambert's function: the zero of the
// derivative of ExpectedRatio. It does not depend on R.
Interval Optimum(const FailureModel& model);

// Expected time over the time without failures and checkpoints, for intervals of `work_s`:
// (M / t) exp(R / M) (exp((t + d) / M) - 1). Daly 2006. kFailsAlways when it is too large
// for a number; 1 + d/t when M is infinite.
Interval ExpectedRatio(const FailureModel& model, double work_s);

// The share of time lost, to first order: d/t + t/(2M).
Interval FirstOrderWaste(const FailureModel& model, double work_s);

}  // namespace muster::checkpoint
