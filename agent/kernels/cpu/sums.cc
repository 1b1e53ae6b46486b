#include "agent/kernels/cpu/sums.h"

#include <algorithm>
#include <cmath>

namespace muster::kernels {
namespace {

int64_t SizeOfChunk(int64_t n, int64_t index) {
  return std::min(kChunkElements, n - index * kChunkElements);
}

template <class T>
double Sum(const T* in, int64_t n, double* partial, double (*chunk)(const T*, int64_t)) {
  const int64_t chunks = PartialSums(n);
#pragma omp parallel for schedule(static) default(none) shared(in, n, partial, chunk, chunks)
  for (int64_t i = 0; i < chunks; ++i) {
    partial[i] = chunk(in + i * kChunkElements, SizeOfChunk(n, i));
  }
  CompensatedSum sum;
  for (int64_t i = 0; i < chunks; ++i) {
    sum.Add(partial[i]);
  }
  return sum.Value();
}

}  // namespace

void CompensatedSum::Add(double term) {
  const double next = sum_ + term;
  if (!std::isfinite(next)) {
    sum_ = next;  // what an infinity loses is no number
    lost_ = 0;
    return;
  }
  lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
  sum_ = next;
}

double SumOf(const float* in, int64_t n, double* partial) {
  return Sum<float>(in, n, partial, SumChunk);
}
double SumOf(const double* in, int64_t n, double* partial) {
  return Sum<double>(in, n, partial, SumChunk);
}
double SumSquaresOf(const float* in, int64_t n, double* partial) {
  return Sum<float>(in, n, partial, SumSquaresChunk);
}
double SumSquaresOf(const double* in, int64_t n, double* partial) {
  return Sum<double>(in, n, partial, SumSquaresChunk);
}

}  // namespace muster::kernels
