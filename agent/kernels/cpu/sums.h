#pragma once

// Sums of long arrays by an OpenMP team: chunks of one length are summed in SIMD, and their sums
// are added in the order of the array, so that the bits do not depend on the team.
//
// Thread promise: one caller at a time; opens its own team. Invariant: the error is below
// SumTolerance times the sum of the magnitudes, whatever the length.

#include <cstdint>
#include <limits>

#include "agent/kernels/cpu/vector_loops.h"

namespace muster::kernels {

// Elements of the workspace for `n` elements.
constexpr int64_t PartialSums(int64_t n) {
  return (n + kChunkElements - 1) / kChunkElements;
}

// `partial` holds PartialSums(n) elements of workspace.
double SumOf(const float* in, int64_t n, double* partial);
double SumOf(const double* in, int64_t n, double* partial);
double SumSquaresOf(const float* in, int64_t n, double* partial);
double SumSquaresOf(const double* in, int64_t n, double* partial);

// The error of a sum relative to the sum of its terms' magnitudes: a chunk's, as vector_loops tells
// it, plus the compensated addition of the chunks (Neumaier 1974), below 2 epsilon of a double.
template <class T>
constexpr double SumTolerance() {
  return static_cast<double>(kChunkElements + 8) *
             static_cast<double>(std::numeric_limits<T>::epsilon()) +
         2 * std::numeric_limits<double>::epsilon();
}

// Sum by compensated addition (Neumaier 1974).
class CompensatedSum {
 public:
  void Add(double term);
  double Value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

}  // namespace muster::kernels
