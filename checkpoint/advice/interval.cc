#include "checkpoint/advice/interval.h"

#include <algorithm>
#include <cmath>

namespace muster::checkpoint {
namespace {

Interval Refuse(IntervalError error) {
  return Interval{0, error};
}

// A value, unless it is none.
Interval Give(double value) {
  return std::isfinite(value) ? Interval{value, IntervalError::kNone}
                              : Refuse(IntervalError::kFailsAlways);
}

IntervalError Check(const FailureModel& model) {
  if (std::isnan(model.cost_s) || std::isnan(model.mtbf_s) || std::isnan(model.restart_s)) {
    return IntervalError::kNotANumber;
  }
  if (model.cost_s < 0 || model.restart_s < 0 || std::isinf(model.cost_s) ||
      std::isinf(model.restart_s)) {
    return IntervalError::kNegative;
  }
  if (model.mtbf_s <= 0) {
    return IntervalError::kFailsAlways;
  }
  return IntervalError::kNone;
}

// What an interval needs beyond that: failures, and a cost to weigh against them.
IntervalError CheckForInterval(const FailureModel& model) {
  const IntervalError error = Check(model);
  if (error != IntervalError::kNone) {
    return error;
  }
  if (std::isinf(model.mtbf_s)) {
    return IntervalError::kNoFailures;
  }
  return model.cost_s > 0 ? IntervalError::kNone : IntervalError::kFreeOfCost;
}

}  // namespace

const char* Text(IntervalError error) {
  switch (error) {
    case IntervalError::kNone:
      return "no error";
    case IntervalError::kNotANumber:
      return "a time is not a number";
    case IntervalError::kNegative:
      return "a cost is negative or infinite";
    case IntervalError::kNoFailures:
      return "nothing ever fails: checkpoint at the end only";
    case IntervalError::kFreeOfCost:
      return "a checkpoint costs nothing: take the shortest practical interval";
    case IntervalError::kFailsAlways:
      return "failures come too fast for any work to be done";
  }
  return "unknown error";
}

Interval Young(const FailureModel& model) {
  const IntervalError error = CheckForInterval(model);
  return error != IntervalError::kNone ? Refuse(error)
                                       : Give(std::sqrt(2 * model.cost_s * model.mtbf_s));
}

Interval DalyFirstOrder(const FailureModel& model) {
  const IntervalError error = CheckForInterval(model);
  return error != IntervalError::kNone
             ? Refuse(error)
             : Give(std::sqrt(2 * model.cost_s * (model.mtbf_s + model.restart_s)));
}

Interval DalyHigherOrder(const FailureModel& model) {
  const IntervalError error = CheckForInterval(model);
  if (error != IntervalError::kNone) {
    return Refuse(error);
  }
  if (model.cost_s >= 2 * model.mtbf_s) {
    return Give(model.mtbf_s);
  }
  const double half = model.cost_s / (2 * model.mtbf_s);
  return Give(std::sqrt(2 * model.cost_s * model.mtbf_s) * (1 + std::sqrt(half) / 3 + half / 9) -
              model.cost_s);
}

// With x = t/M and a = d/M the optimum solves x + exp(-x - a) = 1, where 0 < x < 1 and the left
// side rises. It is solved as g(x) = x + expm1(-x - a) = 0, which keeps digits for small a, by
// Newton's steps kept within a bracket.
Interval Optimum(const FailureModel& model) {
  const IntervalError error = CheckForInterval(model);
  if (error != IntervalError::kNone) {
    return Refuse(error);
  }
  const double a = model.cost_s / model.mtbf_s;
  double low = 0;
  double high = 1;
  double x = std::min(std::sqrt(2 * a), 0.5);
  constexpr int kSteps = 200;  // bisection alone would need 60
  for (int i = 0; i < kSteps && low < high; ++i) {
    const double value = x + std::expm1(-x - a);
    (value > 0 ? high : low) = x;
    const double slope = -std::expm1(-x - a);
    double next = x - value / slope;
    if (!(next > low && next < high)) {
      next = low + (high - low) / 2;
    }
    if (next == x) {
      break;
    }
    x = next;
  }
  return Give(x * model.mtbf_s);
}

Interval ExpectedRatio(const FailureModel& model, double work_s) {
  const IntervalError error = std::isnan(work_s) ? IntervalError::kNotANumber : Check(model);
  if (error != IntervalError::kNone) {
    return Refuse(error);
  }
  if (work_s <= 0) {
    return Refuse(IntervalError::kFailsAlways);
  }
  if (std::isinf(model.mtbf_s)) {
    return Give(1 + model.cost_s / work_s);
  }
  return Give(model.mtbf_s / work_s * std::exp(model.restart_s / model.mtbf_s) *
              std::expm1((work_s + model.cost_s) / model.mtbf_s));
}

Interval FirstOrderWaste(const FailureModel& model, double work_s) {
  const IntervalError error = std::isnan(work_s) ? IntervalError::kNotANumber : Check(model);
  if (error != IntervalError::kNone) {
    return Refuse(error);
  }
  if (work_s <= 0) {
    return Refuse(IntervalError::kFailsAlways);
  }
  return Give(model.cost_s / work_s + work_s / (2 * model.mtbf_s));
}

Interval AvailabilityOptimum(const FailureModel& model) {
  const IntervalError error = CheckForInterval(model);
  if (error != IntervalError::kNone) {
    return Refuse(error);
  }
  const double d = model.cost_s;
  return Give(d + std::sqrt(2 * (model.mtbf_s + model.restart_s) * d + d * d));
}

const char* Text(Advice advice) {
  switch (advice) {
    case Advice::kEvery:
      return "checkpoint after each interval";
    case Advice::kAtEndOnly:
      return "nothing ever fails: checkpoint at the end only";
    case Advice::kSkip:
      return "the job ends before another checkpoint would pay";
    case Advice::kHopeless:
      return "failures come too fast for any work to be done";
  }
  return "unknown advice";
}

Recommendation Recommend(const FailureModel& model, const IntervalBounds& bounds) {
  const Interval optimum = Optimum(model);
  switch (optimum.error) {
    case IntervalError::kNone:
    case IntervalError::kFreeOfCost:
      break;
    case IntervalError::kNoFailures:
      return {Advice::kAtEndOnly, 0, false, IntervalError::kNone};
    case IntervalError::kFailsAlways:
      return {Advice::kHopeless, 0, false, IntervalError::kNone};
    case IntervalError::kNotANumber:
    case IntervalError::kNegative:
      return {Advice::kHopeless, 0, false, optimum.error};
  }
  const double interval_s = std::clamp(optimum.value, bounds.min_s, bounds.max_s);
  return {Advice::kEvery, interval_s, interval_s != optimum.value, IntervalError::kNone};
}

Recommendation RecommendFor(const FailureModel& model, const IntervalBounds& bounds,
                            double remaining_s, bool ends_at_limit) {
  Recommendation recommendation = Recommend(model, bounds);
  if (recommendation.error == IntervalError::kNone && std::isnan(remaining_s)) {
    return {Advice::kHopeless, 0, false, IntervalError::kNotANumber};
  }
  if (recommendation.error != IntervalError::kNone || recommendation.advice == Advice::kHopeless) {
    return recommendation;
  }
  const bool never = recommendation.advice == Advice::kAtEndOnly;
  if (!never && remaining_s >= recommendation.interval_s + model.cost_s) {
    return recommendation;
  }
  if (ends_at_limit && remaining_s > model.cost_s) {
    return {Advice::kEvery, remaining_s - model.cost_s, true, IntervalError::kNone};
  }
  if (!never) {
    recommendation.advice = Advice::kSkip;
  }
  return recommendation;
}

}  // namespace muster::checkpoint
