#include "agent/kernels/cpu/cpu_peaks.h"

#include <omp.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "agent/kernels/cpu/stream_arrays.h"
#include "agent/kernels/cpu/sums.h"
#include "agent/kernels/cpu/vector_loops.h"
#include "agent/kernels/harness/bench.h"
#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/place/memory.h"
#include "agent/kernels/place/placement.h"

namespace muster::kernels {
namespace {

constexpr int kRepeats = 8;

double MeasureFlopPerSecond() {
  constexpr int64_t kRounds = 2000000;  // some milliseconds
  double best = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    double flop = 0;
    const double begin = MonotonicSeconds();
#pragma omp parallel default(none) reduction(+ : flop)
    {
      float sink = 0;
      flop = FmaLoop(kRounds, &sink);
    }
    best = std::max(best, flop / std::max(MonotonicSeconds() - begin, 1e-9));
  }
  return best;
}

// Elements of each array: far more than the caches hold, far less than the node has.
int64_t ElementsFor() {
  constexpr int64_t kLeast = int64_t{1} << 20;
  constexpr int64_t kMost = int64_t{1} << 27;
  const int64_t wanted =
      std::clamp(2 * LastLevelCacheBytes() / int64_t{sizeof(double)}, kLeast, kMost);
  const int64_t available = AvailableBytes();
  return available > 0 ? std::min(wanted, available / (4 * kStreamBytesPerElement)) : wanted;
}

double MeasureBytesPerSecond() {
  const int64_t n = ElementsFor();
  StreamArrays arrays(n, 1);
  Aligned<double> partial(PartialSums(n));
  if (n == 0 || !arrays.allocated() || partial.data() == nullptr) {
    return 0;
  }
  double best = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const StreamOperation operation : {StreamOperation::kCopy, StreamOperation::kTriad}) {
      const std::vector<ThreadSample> samples = arrays.Run(operation, 3);
      best = std::max(best, 1e9 * TotalRate(samples, FactsOf(operation).bytes_per_element));
    }
    const double begin = MonotonicSeconds();
    SumOf(arrays.b(), n, partial.data());
    const double seconds = std::max(MonotonicSeconds() - begin, 1e-9);
    best = std::max(best, static_cast<double>(n) * sizeof(double) / seconds);
  }
  return best;
}

}  // namespace

Peaks MeasureCpuPeaks() {
  return {MeasureFlopPerSecond(), MeasureBytesPerSecond()};
}

std::string CpuPeaksKey() {
  return CpuModel() + ", " + SimdName() + ", " + std::to_string(omp_get_max_threads()) +
         " threads on cpus " + CpuListText(AllowedCpus());
}

nlohmann::ordered_json CpuFacts() {
  return {{"threads", omp_get_max_threads()},
          {"cpus_allowed", CpuListText(AllowedCpus())},
          {"simd", SimdName()}};
}

void UseCpuPeaks(Kernel* kernel) {
  kernel->measure_peaks = MeasureCpuPeaks;
  kernel->peaks_key = CpuPeaksKey;
  kernel->facts = CpuFacts;
}

}  // namespace muster::kernels
