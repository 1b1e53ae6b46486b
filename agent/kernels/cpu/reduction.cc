// reduction: the sum and the sum of squares of an array in single and double precision.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "agent/kernels/cpu/cpu_peaks.h"
#include "agent/kernels/cpu/sums.h"
#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/place/team.h"

namespace muster::kernels {
namespace {

template <class T>
struct Input {
  explicit Input(int64_t n) : data(n), partial(PartialSums(n)) {}

  bool allocated() const { return data.data() != nullptr && partial.data() != nullptr; }

  Aligned<T> data;
  Aligned<double> partial;
};

// The sum of the terms and of their magnitudes, by compensated addition in double precision.
struct Reference {
  double sum = 0;
  double magnitude = 0;
};

template <class T>
Reference ReferenceOf(const T* in, int64_t n, bool squares) {
  CompensatedSum sum;
  CompensatedSum magnitude;
  for (int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<double>(in[i]);
    const double term = squares ? value * value : value;
    sum.Add(term);
    magnitude.Add(std::abs(term));
  }
  return {sum.Value(), magnitude.Value()};
}

template <class T>
void Compare(const std::string& what, const T* in, int64_t n, bool squares, double result,
             Check* check) {
  const Reference reference = ReferenceOf(in, n, squares);
  check->Hold(what, ErrorOf(result, reference.sum), SumTolerance<T>() * reference.magnitude);
}

template <class T>
std::vector<Operation> OperationsOn(const std::shared_ptr<Input<T>>& input, const char* type,
                                    int64_t n) {
  std::vector<Operation> operations;
  for (const bool squares : {false, true}) {
    Operation operation;
    operation.name = std::string(squares ? "sum-squares-" : "sum-").append(type);
    operation.flop = (squares ? 2.0 : 1.0) * static_cast<double>(n);
    operation.bytes = sizeof(T) * static_cast<double>(n);
    operation.memory_roof = operation.bytes > static_cast<double>(LastLevelCacheBytes());
    auto result = std::make_shared<double>(std::numeric_limits<double>::quiet_NaN());
    operation.run = [input, result, n, squares] {
      const double begin = MonotonicSeconds();
      *result = squares ? SumSquaresOf(input->data.data(), n, input->partial.data())
                        : SumOf(input->data.data(), n, input->partial.data());
      return MonotonicSeconds() - begin;
    };
    operation.check = [input, result, n, squares, name = operation.name](Check* check) {
      Compare(name, input->data.data(), n, squares, *result, check);
    };
    operations.push_back(operation);
  }
  return operations;
}

template <class T>
std::optional<std::vector<Operation>> OperationsOf(const char* type, const BenchOptions& options) {
  auto input = std::make_shared<Input<T>>(options.n);
  if (!input->allocated()) {
    return std::nullopt;
  }
  FillSeeded(static_cast<uint64_t>(options.seed), 0, input->data.data(), options.n);
  return OperationsOn(input, type, options.n);
}

std::optional<std::vector<Operation>> Prepare(const BenchOptions& options) {
  auto single = OperationsOf<float>("f32", options);
  auto precise = OperationsOf<double>("f64", options);
  if (!single.has_value() || !precise.has_value()) {
    return std::nullopt;
  }
  single->insert(single->end(), precise->begin(), precise->end());
  return single;
}

// Large and small terms that cancel: the case that naive sums get wrong.
template <class T>
T Extreme(int64_t i) {
  constexpr T kLarge = sizeof(T) == 4 ? T(0x1p60) : T(0x1p400);
  switch (i % 4) {
    case 0:
      return kLarge;
    case 1:
      return -kLarge;
    case 2:
      return std::numeric_limits<T>::denorm_min();
    default:
      return SeededValue(9, 3, i);
  }
}

template <class T>
void VerifySizes(Check* check) {
  for (const int64_t n :
       {int64_t{1}, int64_t{2}, int64_t{7}, int64_t{31}, int64_t{65}, kChunkElements - 1,
        kChunkElements, kChunkElements + 1, 3 * kChunkElements + 5, int64_t{100003}}) {
    for (const bool extreme : {false, true}) {
      Input<T> input(n);
      for (int64_t i = 0; i < n; ++i) {
        input.data.data()[i] = extreme ? Extreme<T>(i) : T(SeededValue(5, 4, i));
      }
      const std::string what = std::to_string(n) + (extreme ? " extreme" : "") + " elements";
      Compare("sum of " + what, input.data.data(), n, false,
              SumOf(input.data.data(), n, input.partial.data()), check);
      if (!extreme) {
        Compare("sum of squares of " + what, input.data.data(), n, true,
                SumSquaresOf(input.data.data(), n, input.partial.data()), check);
      }
    }
  }
}

int Run(int argc, char** argv) {
  Kernel kernel;
  kernel.name = "reduction";
  kernel.purpose =
      "sum and sum of squares by all threads, in single and double precision: the "
      "bandwidth of\nreading. The result has the same bits for any number of threads.";
  kernel.example = "OMP_NUM_THREADS=4 reduction --n 64M --json";
  kernel.n_meaning = "elements of the array";
  kernel.n = int64_t{16} << 20;
  kernel.n_max = int64_t{1} << 50;
  kernel.tolerance =
      "2056 epsilon of the type x the sum of the magnitudes, against a compensated sum";
  kernel.bytes_needed = [](int64_t n) { return 12.02 * static_cast<double>(n); };
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
