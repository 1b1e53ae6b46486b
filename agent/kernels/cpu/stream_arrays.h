#pragma once

// The four operations of STREAM (McCalpin 1995) on arrays placed by parallel first touch, timed per
// thread, and the bandwidth that follows for the whole machine and for each NUMA node.
//
// Bytes counted: what is read once and written once, as STREAM counts. Arrays beyond the last-level
// cache are written by streaming stores, so that this is also what moves; with ordinary stores a
// processor first reads the line that it writes. Thread promise: each call opens its own OpenMP
// team; one caller at a time. Invariant: thread t of T always works on BlockRange(n, T, t, one
// cache line): it initialises, computes and checks the same elements.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "agent/kernels/cpu/vector_loops.h"
#include "agent/kernels/place/memory.h"
#include "agent/kernels/place/placement.h"

namespace muster::kernels {

enum class StreamOperation { kCopy, kScale, kAdd, kTriad };

// One operation: a = b, a = s*b, a = b + c, a = b + s*c.
struct StreamOperationFacts {
  StreamOperation operation;
  const char* name;
  int64_t bytes_per_element;
  int64_t flop_per_element;
};

constexpr std::array<StreamOperationFacts, 4> kStreamOperations = {{
    {StreamOperation::kCopy, "copy", 16, 0},
    {StreamOperation::kScale, "scale", 16, 1},
    {StreamOperation::kAdd, "add", 24, 1},
    {StreamOperation::kTriad, "triad", 24, 2},
}};

inline const StreamOperationFacts& FactsOf(StreamOperation operation) {
  return kStreamOperations[static_cast<size_t>(operation)];
}

// Of the three arrays together.
constexpr int64_t kStreamBytesPerElement = 24;

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

// From the first thread's start to the last thread's end, in seconds. REQUIRES: samples is not
// empty.
double Elapsed(std::span<const ThreadSample> samples);

// Bytes moved by all threads over Elapsed, 10^9 bytes per second.
double TotalRate(std::span<const ThreadSample> samples, int64_t bytes_per_element);

// One entry per NUMA node that ran a thread, in node order: the bytes of that node's threads over
// the time from their first start to their last end. A thread belongs to the node it ended on.
std::vector<NodeRate> NodeRates(std::span<const ThreadSample> samples, int64_t bytes_per_element);

class StreamArrays {
 public:
  // Allocates three arrays of `n` elements and fills them in parallel from `seed`. Check
  // allocated() first.
  StreamArrays(int64_t n, uint64_t seed);

  bool allocated() const;
  Stores stores() const { return stores_; }
  const double* b() const { return b_.data(); }

  // Runs the operation once with factor `s`: one sample per thread of the team.
  std::vector<ThreadSample> Run(StreamOperation operation, double s);

  // The largest error of what the operation left against values recomputed from the seed; exactly 0
  // when all is well.
  double MaxError(StreamOperation operation, double s) const;

 private:
  void FirstTouch();
  double Expected(StreamOperation operation, double s, int64_t i) const;

  int64_t n_;
  uint64_t seed_;
  Stores stores_;
  AlignedArray a_;
  AlignedArray b_;
  AlignedArray c_;
};

}  // namespace muster::kernels
