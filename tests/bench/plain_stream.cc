#include "tests/bench/plain_stream.h"

namespace muster::kernels {

PlainStream::PlainStream(int64_t n) : n_(n), a_(n), b_(n), c_(n) {
  double* a = a_.data();
  double* b = b_.data();
  double* c = c_.data();
  if (!allocated()) {
    return;
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) {
    a[i] = 0;
    b[i] = 1 + static_cast<double>(i % 7);
    c[i] = 2;
  }
}

void PlainStream::Triad(double s) {
  double* __restrict a = a_.data();
  const double* __restrict b = b_.data();
  const double* __restrict c = c_.data();
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n_; ++i) {
    a[i] = b[i] + s * c[i];
  }
}

double PlainStream::Read() const {
  const double* __restrict a = a_.data();
  double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (int64_t i = 0; i < n_; ++i) {
    sum += a[i];
  }
  return sum;
}

}  // namespace muster::kernels
