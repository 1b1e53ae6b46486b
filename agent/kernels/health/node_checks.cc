#include "agent/kernels/health/node_checks.h"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>

#include "agent/kernels/cpu/chase.h"
#include "agent/kernels/cpu/cpu_peaks.h"
#include "agent/kernels/cpu/matrix_product.h"
#include "agent/kernels/cpu/stream_arrays.h"
#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/place/team.h"

namespace muster::kernels {
namespace {

constexpr int kRepeatsLeast = 9;
constexpr int kRepeatsMost = 100000;

// Calls `once` for about `seconds`, and often enough for a median.
void Repeat(double seconds, const std::function<void(int repeat)>& once) {
  const double end = MonotonicSeconds() + seconds;
  for (int repeat = 0;
       repeat < kRepeatsLeast || (MonotonicSeconds() < end && repeat < kRepeatsMost); ++repeat) {
    once(repeat);
  }
}

double MedianOf(const std::vector<double>& samples) {
  return samples.empty() ? 0 : Summarise(samples).median;
}

// A multiplication that needs the last one's result takes three cycles on the processors of the
// last ten years; where it takes another number, it takes that on every node of the class.
double ChainGigahertz() {
  constexpr int kSteps = 1 << 20;
  constexpr double kCycles = 3;
  uint64_t value = 3;
  const double begin = MonotonicSeconds();
  for (int i = 0; i < kSteps; ++i) {
    value *= value;
    asm volatile("" : "+r"(value));  // nothing is known of it
  }
  return kCycles * kSteps / std::max(MonotonicSeconds() - begin, 1e-9) * 1e-9;
}

Figure CheckClock(double seconds) {
  std::vector<std::vector<double>> of_thread(static_cast<size_t>(omp_get_max_threads()));
  Repeat(seconds, [&](int) {
#pragma omp parallel default(none) shared(of_thread)
    {
      const double found = ChainGigahertz();
      of_thread[static_cast<size_t>(omp_get_thread_num())].push_back(found);
    }
  });
  double slowest = 0;
  for (const std::vector<double>& samples : of_thread) {
    const double median = MedianOf(samples);
    slowest = samples.empty() ? slowest : (slowest == 0 ? median : std::min(slowest, median));
  }
  return {"clock", "GHz", Better::kHigher, slowest, 0};
}

// Elements of each array: far more than the caches hold, far less than the node has.
int64_t ElementsFor() {
  constexpr int64_t kLeast = int64_t{1} << 21;
  constexpr int64_t kMost = int64_t{1} << 27;
  const int64_t wanted =
      std::clamp(4 * LastLevelCacheBytes() / int64_t{sizeof(double)}, kLeast, kMost);
  const int64_t available = AvailableBytes();
  return available > 0 ? std::min(wanted, available / (4 * kStreamBytesPerElement)) : wanted;
}

// The triad's bandwidth, and what was wrong with its result.
std::vector<Figure> CheckBandwidth(double seconds, Measured* measured) {
  const int64_t n = ElementsFor();
  StreamArrays arrays(n, 1);
  if (n <= 0 || !arrays.allocated()) {
    return {};
  }
  const StreamOperationFacts& triad = FactsOf(StreamOperation::kTriad);
  std::vector<double> rates;
  double factor = 3;
  Repeat(seconds, [&](int repeat) {
    factor = 3.0 + repeat % 1024;
    const std::vector<ThreadSample> samples = arrays.Run(StreamOperation::kTriad, factor);
    rates.push_back(TotalRate(samples, triad.bytes_per_element));
    measured->seconds.push_back(Elapsed(samples));
  });
  measured->bytes = static_cast<double>(n * triad.bytes_per_element);
  const bool wrong = arrays.MaxError(StreamOperation::kTriad, factor) != 0;
  return {{"memory bandwidth", "GB/s", Better::kHigher, MedianOf(rates), 0},
          {"wrong results in memory", "", Better::kNever, wrong ? 1.0 : 0.0, 0}};
}

// Of each NUMA node's processors to its own memory.
std::vector<Figure> CheckLatency(double seconds) {
  constexpr int64_t kStepsMost = int64_t{1} << 16;
  const int64_t bytes = std::max<int64_t>(int64_t{64} << 20, 2 * LastLevelCacheBytes());
  const std::vector<NumaNode> nodes = NumaNodes();
  std::vector<Figure> figures;
  for (const NumaNode& node : nodes) {
    if (!node.has_memory || node.cpus.empty()) {
      continue;
    }
    const ScopedBinding binding(node.cpus);
    Chain chain(bytes / static_cast<int64_t>(sizeof(ChainLine)), node.id, 1);
    if (!chain.allocated()) {
      continue;
    }
    std::vector<double> nanoseconds;
    Repeat(seconds / static_cast<double>(nodes.size()), [&](int) {
      nanoseconds.push_back(chain.Walk(kStepsMost) / static_cast<double>(kStepsMost) * 1e9);
    });
    const std::string where = nodes.size() > 1 ? " of NUMA node " + std::to_string(node.id) : "";
    figures.push_back({"memory latency" + where, "ns", Better::kLower, MedianOf(nanoseconds), 0});
  }
  return figures;
}

// Elements of the product that are not what double precision says, of some that are looked at.
double WrongElements(int64_t side, const Aligned<float>& a, const Aligned<float>& b,
                     const Aligned<float>& c) {
  constexpr int64_t kLooks = 512;
  const double tolerance = ProductTolerance(side, 1, 1);
  double wrong = 0;
  for (int64_t i = 0; i < kLooks; ++i) {
    const int64_t row = i * 7919 % side;
    const int64_t column = i * 104729 % side;
    double sum = 0;
    for (int64_t k = 0; k < side; ++k) {
      sum += static_cast<double>(a.data()[row * side + k]) *
             static_cast<double>(b.data()[k * side + column]);
    }
    const double error = std::abs(static_cast<double>(c.data()[row * side + column]) - sum);
    wrong += error <= tolerance ? 0 : 1;  // what is no number is wrong, too
  }
  return wrong;
}

std::vector<Figure> CheckArithmetic(double seconds, Measured* measured) {
  constexpr int64_t kSide = 1024;
  Aligned<float> a(kSide * kSide);
  Aligned<float> b(kSide * kSide);
  Aligned<float> c(kSide * kSide);
  if (a.data() == nullptr || b.data() == nullptr || c.data() == nullptr) {
    return {};
  }
  FillSeeded(1, 0, a.data(), a.size());
  FillSeeded(1, 1, b.data(), b.size());
  const double flop = 2.0 * kSide * kSide * kSide;
  std::vector<double> rates;
  double wrong = 0;
  Repeat(seconds, [&](int repeat) {
    const double begin = MonotonicSeconds();
    const bool done = MatrixProduct({kSide, kSide, kSide}, a.data(), b.data(), c.data());
    const double took = std::max(MonotonicSeconds() - begin, 1e-9);
    rates.push_back(flop / took * 1e-9);
    measured->seconds.push_back(took);
    if (done && repeat % 64 == 0) {
      wrong += WrongElements(kSide, a, b, c);
    }
  });
  measured->flop = flop;
  return {{"matrix product", "GFLOP/s", Better::kHigher, MedianOf(rates), 0},
          {"wrong results of arithmetic", "", Better::kNever, wrong, 0}};
}

void Append(std::vector<Figure> more, std::vector<Figure>* figures) {
  figures->insert(figures->end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<Figure> CheckNode(double seconds) {
  Measured triad;
  Measured product;
  product.memory_roof = false;
  std::vector<Figure> figures = {CheckClock(0.15 * seconds)};
  Append(CheckBandwidth(0.35 * seconds, &triad), &figures);
  Append(CheckLatency(0.15 * seconds), &figures);
  Append(CheckArithmetic(0.35 * seconds, &product), &figures);
  if (!triad.seconds.empty() && !product.seconds.empty()) {
    const Peaks peaks = PeaksFor(CpuPeaksKey(), MeasureCpuPeaks, {triad, product});
    for (Figure& figure : figures) {
      figure.roof = figure.component == "memory bandwidth" ? peaks.bytes_per_s * 1e-9
                    : figure.component == "matrix product" ? peaks.flop_per_s * 1e-9
                                                           : 0;
    }
  }
  const double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  figures.push_back({"memory size", "GiB", Better::kHigher, bytes / (1U << 30U), 0});
  return figures;
}

}  // namespace muster::kernels
