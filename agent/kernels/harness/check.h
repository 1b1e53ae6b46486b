#pragma once

// What `--verify` finds: the results of a kernel against a reference, each with the tolerance it
// was held to.
//
// Thread promise: one thread. Invariant: a NaN, or an element that was never written, is infinitely
// wrong; a check that compared nothing is no pass.

#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace muster::kernels {

// |actual - expected|, infinite when either is no number; 0 for equal infinities.
double ErrorOf(double actual, double expected);

class Check {
 public:
  // One comparison: passes when error <= tolerance. `what` names it for the message.
  void Hold(const std::string& what, double error, double tolerance);

  bool ok() const { return cases_ > 0 && failure_.empty(); }
  int64_t cases() const { return cases_; }
  // The largest error over its tolerance, infinite for any error where none is tolerated.
  double worst() const { return worst_; }
  double max_error() const { return max_error_; }
  // The first comparison that failed, in words; empty when none did.
  const std::string& failure() const { return failure_; }

 private:
  int64_t cases_ = 0;
  double worst_ = 0;
  double max_error_ = 0;
  std::string failure_;
};

// The largest ErrorOf the elements of two arrays of one size; infinite when sizes differ.
template <class T>
double LargestError(std::span<const T> actual, std::span<const T> expected) {
  if (actual.size() != expected.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double worst = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double error = ErrorOf(static_cast<double>(actual[i]), static_cast<double>(expected[i]));
    worst = error > worst ? error : worst;
  }
  return worst;
}

}  // namespace muster::kernels
