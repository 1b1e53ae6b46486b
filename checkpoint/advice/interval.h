#pragma once

// How often to checkpoint: the work between two checkpoints that loses the least time to failures.
//
// Failures are exponential with mean time M between them, a checkpoint costs d, a restart R; all in
// seconds. Every interval here is the *work* between the end of one checkpoint and the beginning of
// the next, without d. Invariants: a value comes back only when it is a number that means
// something; otherwise the error says why not.

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

// d + sqrt(2 (M + R) d + d^2): the time from the beginning of one checkpoint to that of the next
// that maximises availability (NVIDIA, arXiv 2410.18124, with Ts = d, Tf = M, Tr = R). The one
// formula here that counts the checkpoint itself.
Interval AvailabilityOptimum(const FailureModel& model);

// Where an interval stops being practical.
struct IntervalBounds {
  double min_s = 1;
  double max_s = 7 * 86400.0;
};

// What to do with the formulas' answer.
enum class Advice {
  kEvery,      // checkpoint after each `interval_s` of work
  kAtEndOnly,  // nothing ever fails: no interval
  kSkip,       // the job ends before another checkpoint would pay
  kHopeless,   // failures come too fast for any work to be done
};

// One line for a person.
const char* Text(Advice advice);

struct Recommendation {
  Advice advice = Advice::kAtEndOnly;
  double interval_s = 0;                       // of work; 0 unless kEvery or kSkip
  bool clamped = false;                        // one of the bounds stands in place of the optimum
  IntervalError error = IntervalError::kNone;  // kNotANumber or kNegative: nothing else counts
};

// The optimum within `bounds`. A free checkpoint (d = 0) is taken after each min_s.
Recommendation Recommend(const FailureModel& model, const IntervalBounds& bounds);

// As Recommend, for a job that has `remaining_s` left: kSkip when that is less than the interval
// and the checkpoint after it, unless the time limit ends the job before its work is done
// (`ends_at_limit`): then the interval shrinks so that the last checkpoint is done at the limit.
Recommendation RecommendFor(const FailureModel& model, const IntervalBounds& bounds,
                            double remaining_s, bool ends_at_limit);

}  // namespace muster::checkpoint
