// saxpy: y = y + a * x in single and double precision.

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "agent/kernels/cpu/cpu_peaks.h"
#include "agent/kernels/cpu/vector_loops.h"
#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/place/team.h"

namespace muster::kernels {
namespace {

constexpr double kFactor = 0.625;

template <class T>
struct Arrays {
  explicit Arrays(int64_t n) : x(n), y(n) {}

  bool allocated() const { return x.data() != nullptr && y.data() != nullptr; }

  Aligned<T> x;
  Aligned<T> y;
  int64_t runs = 0;
};

// What `runs` repeats make of y, one by one.
template <class T>
T Expected(T x, T y, int64_t runs) {
  for (int64_t i = 0; i < runs; ++i) {
    y = y + static_cast<T>(kFactor) * x;
  }
  return y;
}

template <class T>
void CheckAll(const Arrays<T>& arrays, uint64_t seed, const char* name, Check* check) {
  double worst = 0;
  for (int64_t i = 0; i < arrays.y.size(); ++i) {
    const T expected =
        Expected(arrays.x.data()[i], static_cast<T>(SeededValue(seed, 1, i)), arrays.runs);
    worst = std::max(worst, ErrorOf(arrays.y.data()[i], expected));
  }
  check->Hold(name, worst, 0);
}

template <class T>
std::optional<Operation> AxpyOperation(const char* name, const BenchOptions& options) {
  const int64_t n = options.n;
  auto arrays = std::make_shared<Arrays<T>>(n);
  if (!arrays->allocated()) {
    return std::nullopt;
  }
  const auto seed = static_cast<uint64_t>(options.seed);
  FillSeeded(seed, 0, arrays->x.data(), n);
  FillSeeded(seed, 1, arrays->y.data(), n);
  Operation operation;
  operation.name = name;
  operation.flop = 2 * static_cast<double>(n);
  operation.bytes = 3.0 * sizeof(T) * static_cast<double>(n);
  operation.memory_roof =
      2.0 * sizeof(T) * static_cast<double>(n) > static_cast<double>(LastLevelCacheBytes());
  operation.run = [arrays, n] {
    ++arrays->runs;
    return RunTeam(n, sizeof(T), [&](IndexRange own) {
      AxpyLoop(static_cast<T>(kFactor), arrays->x.data() + own.begin, arrays->y.data() + own.begin,
               own.size());
    });
  };
  operation.check = [arrays, seed, name](Check* check) { CheckAll(*arrays, seed, name, check); };
  return operation;
}

std::optional<std::vector<Operation>> Prepare(const BenchOptions& options) {
  std::vector<Operation> operations;
  for (auto& each :
       {AxpyOperation<float>("saxpy", options), AxpyOperation<double>("daxpy", options)}) {
    if (!each.has_value()) {
      return std::nullopt;
    }
    operations.push_back(*each);
  }
  return operations;
}

template <class T>
void VerifySizes(Check* check) {
  constexpr T kHuge = std::numeric_limits<T>::max();
  constexpr T kTiny = std::numeric_limits<T>::denorm_min();
  const std::vector<T> extremes = {
      0, -T{0}, kHuge / 2, -kHuge / 2, kTiny, -kTiny, std::numeric_limits<T>::infinity(), 1};
  for (const int64_t n : {1, 2, 3, 7, 15, 31, 33, 63, 64, 65, 127, 1000, 4097}) {
    Arrays<T> arrays(n + 1);
    std::vector<T> expected(static_cast<size_t>(n + 1));
    for (int64_t i = 0; i <= n; ++i) {
      const auto at = static_cast<size_t>(i);
      arrays.x.data()[i] = extremes[at % extremes.size()];
      arrays.y.data()[i] = SeededValue(7, 2, i);
      expected[at] =
          i == n ? arrays.y.data()[i] : Expected(arrays.x.data()[i], arrays.y.data()[i], 1);
    }
    AxpyLoop(static_cast<T>(kFactor), arrays.x.data(), arrays.y.data(), n);
    check->Hold("axpy of " + std::to_string(n) + " and the element after it",
                LargestError<T>({arrays.y.data(), expected.size()}, expected), 0);
  }
}

int Run(int argc, char** argv) {
  Kernel kernel;
  kernel.name = "saxpy";
  kernel.purpose =
      "y = y + a*x by all threads, in single and double precision: bandwidth where "
      "one array is\nread and written. Arrays are placed by first touch.";
  kernel.example = "OMP_NUM_THREADS=4 saxpy --n 64M --json";
  kernel.n_meaning = "elements of each array";
  kernel.n = int64_t{16} << 20;
  kernel.n_max = int64_t{1} << 50;
  kernel.tolerance = "0: each product and each sum is rounded once";
  kernel.bytes_needed = [](int64_t n) { return 24.0 * static_cast<double>(n); };
  kernel.prepare = Prepare;
  kernel.verify = [](const BenchOptions&, Check* check) {
    VerifySizes<float>(check);
    VerifySizes<double>(check);
  };
  UseCpuPeaks(&kernel);
  return RunKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
