#pragma once

// Work of an OpenMP team on contiguous parts of an index space, and inputs that the same threads
// place by first touch.
//
// Thread promise: one caller at a time; each call opens its own team. Invariant: thread t of T has
// the same part of the same index space in every call.

#include <omp.h>

#include <cstdint>
#include <utility>

#include "agent/kernels/place/memory.h"
#include "agent/kernels/place/partition.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {

// work(range) on every thread for its part of [0, n), cut at cache lines of elements of
// `element_bytes`. The seconds from before the team starts until all are done.
template <class Work>
double RunTeam(int64_t n, int64_t element_bytes, const Work& work) {
  const int64_t grain = kAlignment / element_bytes;
  const double begin = omp_get_wtime();
#pragma omp parallel default(none) shared(n, grain, work)
  { work(BlockRange(n, omp_get_num_threads(), omp_get_thread_num(), grain)); }
  return omp_get_wtime() - begin;
}

// Element `index` of the input array `which` of a kernel: in [-1, 1), exact in single precision.
inline float SeededValue(uint64_t seed, uint64_t which, int64_t index) {
  const double unit = SeededUnit(seed * 8 + which, static_cast<uint64_t>(index));
  return static_cast<float>(
      2 * (static_cast<double>(static_cast<int64_t>(unit * 0x1p23)) * 0x1p-23) - 1);
}

// out[i] = SeededValue(seed, which, i), each thread its part.
template <class T>
void FillSeeded(uint64_t seed, uint64_t which, T* out, int64_t n) {
  RunTeam(n, sizeof(T), [&](IndexRange own) {
    for (int64_t i = own.begin; i < own.end; ++i) {
      out[i] = static_cast<T>(SeededValue(seed, which, i));
    }
  });
}

}  // namespace muster::kernels
