#pragma once

// The STREAM triad a = b + s*c on arrays placed by parallel first touch, timed per thread, and the
// bandwidth that follows for the whole machine and for each NUMA node.
//
// Bytes counted: 24 per element (b and c read, a written), as STREAM counts. The stores are
// ordinary ones: a processor that first reads the line it writes moves 32, so true traffic may be
// up to 4/3 of the figure. Thread promise: each call opens its own OpenMP team; one caller at a
// time. Invariant: thread t of T always works on BlockRange(n, T, t, one cache line): it
// initialises, computes and checks the same elements.

#include <cstdint>
#include <span>
#include <vector>

#include "agent/kernels/harness/memory.h"
#include "agent/kernels/harness/placement.h"

namespace muster::kernels {

constexpr int64_t kTriadBytesPerElement = 24;
constexpr int64_t kTriadFlopPerElement = 2;

// What one thread did in one repeat. Times are monotonic seconds.
struct ThreadSample {
  Place before;
  Place after;
  double begin = 0;
  double end = 0;
  int64_t elements = 0;
};

// The bandwidth of one NUMA node (or of all together) in one repeat.
struct NodeRate {
  int node = 0;
  int threads = 0;
  double gb_per_s = 0;  // 10^9 bytes per second
};

// a[i] = b[i] + s * c[i] for i in [0, n). The arrays must not overlap.
void TriadLoop(double* __restrict a, const double* __restrict b, const double* __restrict c,
               double s, int64_t n);

// From the first thread's start to the last thread's end, in seconds. REQUIRES: samples is not
// empty.
double Elapsed(std::span<const ThreadSample> samples);

// Bytes moved by all threads over Elapsed, 10^9 bytes per second.
double TotalRate(std::span<const ThreadSample> samples);

// One entry per NUMA node that ran a thread, in node order: the bytes of that node's threads over
// the time from their first start to their last end. A thread belongs to the node it ended on.
std::vector<NodeRate> NodeRates(std::span<const ThreadSample> samples);

class Triad {
 public:
  // Allocates three arrays of `n` elements and fills them in parallel from `seed`. Check
  // allocated() first.
  Triad(int64_t n, uint64_t seed);

  bool allocated() const;

  // Runs the loop once with factor `s`: one sample per thread of the team.
  std::vector<ThreadSample> Run(double s);

  // The largest |a - (b + s*c)| against values recomputed from the seed; exactly 0 when all is
  // well.
  double MaxError(double s) const;

 private:
  void FirstTouch();

  int64_t n_;
  uint64_t seed_;
  AlignedArray a_;
  AlignedArray b_;
  AlignedArray c_;
};

}  // namespace muster::kernels
