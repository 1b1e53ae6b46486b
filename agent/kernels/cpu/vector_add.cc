// vector-add: c = a + b in single and double precision.

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

template <class T>
struct Arrays {
  explicit Arrays(int64_t n) : a(n), b(n), c(n) {}

  bool allocated() const {
    return a.data() != nullptr && b.data() != nullptr && c.data() != nullptr;
  }

  Aligned<T> a;
  Aligned<T> b;
  Aligned<T> c;
};

// The largest error of c against the sums made one by one.
template <class T>
double MaxError(const Arrays<T>& arrays, const std::vector<T>& expected) {
  return LargestError<T>({arrays.c.data(), expected.size()}, expected);
}

template <class T>
std::optional<Operation> AddOperation(const char* name, const BenchOptions& options) {
  const int64_t n = options.n;
  auto arrays = std::make_shared<Arrays<T>>(n);
  if (!arrays->allocated()) {
    return std::nullopt;
  }
  const auto seed = static_cast<uint64_t>(options.seed);
  FillSeeded(seed, 0, arrays->a.data(), n);
  FillSeeded(seed, 1, arrays->b.data(), n);
  RunTeam(n, sizeof(T), [&](IndexRange own) {
    std::fill(arrays->c.data() + own.begin, arrays->c.data() + own.end,
              std::numeric_limits<T>::quiet_NaN());
  });
  Operation operation;
  operation.name = name;
  operation.flop = static_cast<double>(n);
  operation.bytes = 3.0 * sizeof(T) * static_cast<double>(n);
  operation.memory_roof = operation.bytes > static_cast<double>(LastLevelCacheBytes());
  const Stores stores = operation.memory_roof ? Stores::kStreaming : Stores::kOrdinary;
  operation.run = [arrays, n, stores] {
    return RunTeam(n, sizeof(T), [&](IndexRange own) {
      AddLoop(arrays->a.data() + own.begin, arrays->b.data() + own.begin,
              arrays->c.data() + own.begin, own.size(), stores);
    });
  };
  operation.check = [arrays, n, name](Check* check) {
    double worst = 0;
    for (int64_t i = 0; i < n; ++i) {
      worst =
          std::max(worst, ErrorOf(arrays->c.data()[i], arrays->a.data()[i] + arrays->b.data()[i]));
    }
    check->Hold(name, worst, 0);
  };
  return operation;
}

std::optional<std::vector<Operation>> Prepare(const BenchOptions& options) {
  std::vector<Operation> operations;
  for (auto& each :
       {AddOperation<float>("add-f32", options), AddOperation<double>("add-f64", options)}) {
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
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const std::vector<T> extremes = {0, -T{0}, kHuge, -kHuge, kTiny, -kTiny, kInfinity, 1};
  for (const int64_t n : {1, 2, 3, 7, 15, 31, 33, 63, 64, 65, 127, 1000, 4097}) {
    for (const Stores stores : {Stores::kOrdinary, Stores::kStreaming}) {
      Arrays<T> arrays(n + 1);
      std::vector<T> expected(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i);
        arrays.a.data()[i] = extremes[at % extremes.size()];
        arrays.b.data()[i] = SeededValue(7, 2, i);
        expected[at] = arrays.a.data()[i] + arrays.b.data()[i];
      }
      arrays.c.data()[n] = 5;
      AddLoop(arrays.a.data(), arrays.b.data(), arrays.c.data(), n, stores);
      const std::string what = "add of " + std::to_string(n);
      check->Hold(what, MaxError(arrays, expected), 0);
      check->Hold(what + ", the element after it", ErrorOf(arrays.c.data()[n], 5), 0);
    }
  }
}

int Run(int argc, char** argv) {
  Kernel kernel;
  kernel.name = "vector-add";
  kernel.purpose =
      "c = a + b by all threads, in single and double precision: bandwidth of two "
      "streams in\nand one out. Arrays are placed by first touch.";
  kernel.example = "OMP_NUM_THREADS=4 vector-add --n 64M --json";
  kernel.n_meaning = "elements of each array";
  kernel.n = int64_t{16} << 20;
  kernel.n_max = int64_t{1} << 50;
  kernel.tolerance = "0: each sum is rounded once";
  kernel.bytes_needed = [](int64_t n) { return 36.0 * static_cast<double>(n); };
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
