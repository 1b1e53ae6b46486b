#pragma once

// Synthetic workloads: the model of Lublin and Feitelson.
//
// Source: U. Lublin, D. G. Feitelson, "The workload on parallel supercomputers: modeling the
// characteristics of rigid jobs", Journal of Parallel and Distributed Computing 63(11), 2003,
// 1105-1122; parameters for all jobs together (no batch or interactive types), which the authors'
// program of 1999 at https://www.cs.huji.ac.il/labs/parallel/workload gives as its typeless ones:
// - Size: serial with probability 0.244; else log2 of it is uniform in [0.8, m] with probability
//   0.86 and in [m, h] otherwise, where h = log2(processors) and m = h - 2.5; it is rounded, so
//   that the size is a power of two, with probability 0.576 of all jobs.
// - Run time: its natural logarithm is Gamma(4.2, 0.94) with probability p, else Gamma(312, 0.03);
//   p = 0.78 - 0.0054 size, within [0, 1]; drawn again above 12 (45 hours).
// - Arrivals: the logarithm of the gaps is Gamma(10.2303 x 1.0225, 0.4871), drawn again above 13;
//   they are gaps of the mean half hour, and pass faster or slower with the cycle of the day, whose
//   half hours weigh as the density of Gamma(8.1737, 3.9631), from the 11th half hour on.
// Thread promise: a value; one thread at a time. Invariants: the same options give the same jobs;
// submissions do not decrease; sizes are from 1 to the processors.

#include <array>
#include <cstdint>
#include <vector>

#include "scheduler/simulator/random_sequence.h"
#include "scheduler/simulator/readers/trace_reader.h"

namespace muster::sim {

struct LublinOptions {
  std::int64_t processors = 128;  // 2 or more
  std::uint64_t seed = 1;
  double gap_factor = 1;  // of all gaps between arrivals; the day's cycle stays a day
  // Where not empty, sizes, GPUs, run times and users are those of records drawn from these with
  // replacement, whole, so that what depends on what in the trace they come from stays so; only the
  // arrivals are the model's.
  std::vector<TraceRecord> mix;
};

class LublinModel {
 public:
  explicit LublinModel(const LublinOptions& options);

  // The next job, numbered from 1. Requested times are not of the model: -1.
  TraceRecord Next();

 private:
  static constexpr std::size_t kHalfHours = 48;

  std::int64_t DrawSize();
  std::int64_t DrawRunTime(std::int64_t size);
  double DrawArrival();

  LublinOptions options_;
  RandomSequence random_;
  std::array<double, kHalfHours> weights_ = {};  // of mean 1
  std::int64_t jobs_ = 0;
  double now_ = 0;  // s, of the last arrival
};

// Up to `most` records that have a run time and processors, drawn evenly from a trace: Vitter's
// algorithm R, "Random sampling with a reservoir", ACM TOMS 11(1), 1985. Records of more than
// `processors` are passed over.
absl::StatusOr<std::vector<TraceRecord>> SampleRecords(TraceReader* reader, std::size_t most,
                                                       std::int64_t processors, std::uint64_t seed);

// The factor of gaps that gives `load` = work / (processors x span of submissions), nearly, over
// the first `jobs` jobs of the model, which are drawn for it a few times. REQUIRES: load > 0,
// jobs > 1.
double GapFactorForLoad(const LublinOptions& options, std::uint64_t jobs, double load);

}  // namespace muster::sim
