// norm-gelu: layer normalisation, GELU and a scale in one pass over memory, beside the three
// passes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "agent/kernels/cpu/cpu_peaks.h"
#include "agent/kernels/cpu/norm_gelu_rows.h"
#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/place/team.h"

namespace muster::kernels {
namespace {

constexpr float kScale = 0.75F;

struct Tensor {
  Tensor(int64_t row_count, int64_t column_count)
      : rows(row_count),
        columns(column_count),
        in(row_count * column_count),
        out(row_count * column_count),
        gamma(column_count),
        beta(column_count) {}

  bool allocated() const {
    return in.data() != nullptr && out.data() != nullptr && gamma.data() != nullptr &&
           beta.data() != nullptr;
  }

  void Fill(uint64_t seed) {
    FillSeeded(seed, 0, in.data(), in.size());
    FillSeeded(seed, 1, gamma.data(), columns);
    FillSeeded(seed, 2, beta.data(), columns);
    RunTeam(out.size(), sizeof(float), [&](IndexRange own) {
      std::fill(out.data() + own.begin, out.data() + own.end,
                std::numeric_limits<float>::quiet_NaN());
    });
  }

  NormWeights Weights() const { return {gamma.data(), beta.data(), kScale}; }

  // The part of a thread; `again` reads what was written.
  Rows Part(IndexRange own, bool again) {
    float* target = out.data() + own.begin * columns;
    return {again ? target : in.data() + own.begin * columns, target, own.size(), columns};
  }

  int64_t rows;
  int64_t columns;
  Aligned<float> in;
  Aligned<float> out;
  Aligned<float> gamma;
  Aligned<float> beta;
};

double RunFused(Tensor* tensor) {
  return RunTeam(tensor->rows, kAlignment, [&](IndexRange own) {
    NormGeluScale(tensor->Part(own, false), tensor->Weights());
  });
}

double RunSeparate(Tensor* tensor) {
  double seconds = RunTeam(tensor->rows, kAlignment, [&](IndexRange own) {
    NormRows(tensor->Part(own, false), tensor->Weights());
  });
  seconds +=
      RunTeam(tensor->rows, kAlignment, [&](IndexRange own) { GeluRows(tensor->Part(own, true)); });
  seconds += RunTeam(tensor->rows, kAlignment,
                     [&](IndexRange own) { ScaleRows(tensor->Part(own, true), kScale); });
  return seconds;
}

// The largest error of a row over 1 + |y|, against double precision.
double RowError(const Tensor& tensor, int64_t row) {
  const float* in = tensor.in.data() + row * tensor.columns;
  const auto count = static_cast<double>(tensor.columns);
  double mean = 0;
  for (int64_t i = 0; i < tensor.columns; ++i) {
    mean += static_cast<double>(in[i]) / count;
  }
  double variance = 0;
  for (int64_t i = 0; i < tensor.columns; ++i) {
    const double apart = static_cast<double>(in[i]) - mean;
    variance += apart * apart / count;
  }
  double worst = 0;
  for (int64_t i = 0; i < tensor.columns; ++i) {
    const double unit = (static_cast<double>(in[i]) - mean) /
                        std::sqrt(variance + static_cast<double>(kNormEpsilon));
    const double z = unit * static_cast<double>(tensor.gamma.data()[i]) +
                     static_cast<double>(tensor.beta.data()[i]);
    const double inner = std::sqrt(2 / 3.14159265358979323846) * (z + 0.044715 * z * z * z);
    const double y = static_cast<double>(kScale) * z / 2 * (1 + std::tanh(inner));
    const auto actual = static_cast<double>(tensor.out.data()[row * tensor.columns + i]);
    worst = std::max(worst, ErrorOf(actual, y) / (1 + std::abs(y)));
  }
  return worst;
}

double WorstError(const Tensor& tensor) {
  double worst = 0;
#pragma omp parallel for default(none) shared(tensor) reduction(max : worst)
  for (int64_t row = 0; row < tensor.rows; ++row) {
    worst = std::max(worst, RowError(tensor, row));
  }
  return worst;
}

Operation MakeOperation(const char* name, double passes, const std::shared_ptr<Tensor>& tensor,
                        double (*run)(Tensor*)) {
  const auto elements = static_cast<double>(tensor->in.size());
  Operation operation;
  operation.name = name;
  operation.flop =
      20 * elements;  // 5 for the moments, 3 for the norm, 11 for GELU, 1 for the scale
  operation.bytes = passes * 2 * sizeof(float) * elements;
  operation.memory_roof = 2 * sizeof(float) * elements > static_cast<double>(LastLevelCacheBytes());
  operation.run = [tensor, run] { return run(tensor.get()); };
  // Each leaves the same tensor behind: run again for the check, since the other ran last.
  operation.check = [tensor, run, name](Check* check) {
    std::fill(tensor->out.data(), tensor->out.data() + tensor->out.size(),
              std::numeric_limits<float>::quiet_NaN());
    run(tensor.get());
    check->Hold(name, WorstError(*tensor), kNormGeluTolerance);
  };
  return operation;
}

void VerifyShape(int64_t rows, int64_t columns, float magnitude, float shift, Check* check) {
  Tensor tensor(rows, columns);
  tensor.Fill(11);
  for (int64_t i = 0; i < tensor.in.size(); ++i) {
    tensor.in.data()[i] = tensor.in.data()[i] * magnitude + shift;
  }
  for (const bool fused : {true, false}) {
    fused ? RunFused(&tensor) : RunSeparate(&tensor);
    const std::string what = std::string(fused ? "fused " : "separate ") + std::to_string(rows) +
                             " x " + std::to_string(columns) + " of magnitude " +
                             std::to_string(magnitude);
    check->Hold(what, WorstError(tensor), kNormGeluTolerance);
  }
}

void Verify(const BenchOptions& /*options*/, Check* check) {
  for (const int64_t columns : {1, 2, 3, 7, 8, 9, 31, 33, 64, 127, 768, 1025}) {
    VerifyShape(5, columns, 1, 0, check);
  }
  VerifyShape(1, 4097, 1, 0, check);
  VerifyShape(3, 100, 1e4F, 0, check);
  VerifyShape(3, 100, 1e-4F, 0, check);
  VerifyShape(3, 100, 0, 3, check);  // no variance at all
  VerifyShape(3, 100, 1, 8, check);
}

int Run(int argc, char** argv) {
  auto columns = std::make_shared<int64_t>(1024);
  Kernel kernel;
  kernel.name = "norm-gelu";
  kernel.purpose =
      "layer normalisation, GELU (tanh form) and a scale of rows in single precision: "
      "fused into\none pass over memory, and as the three passes it replaces.";
  kernel.example = "OMP_NUM_THREADS=4 norm-gelu --n 64K --columns 1024 --json";
  kernel.n_meaning = "rows";
  kernel.n = 16384;
  kernel.n_max = int64_t{1} << 40;
  kernel.tolerance = "3e-5 x (1 + |y|), against double precision";
  kernel.add_options = [columns](CommandLine* line) {
    line->AddCount("columns", "elements of a row", columns.get(), 1, 1 << 16);
  };
  kernel.bytes_needed = [columns](int64_t n) {
    return 8.0 * static_cast<double>(n + 1) * static_cast<double>(*columns);
  };
  kernel.prepare = [columns](const BenchOptions& options) -> std::optional<std::vector<Operation>> {
    auto tensor = std::make_shared<Tensor>(options.n, *columns);
    if (!tensor->allocated()) {
      return std::nullopt;
    }
    tensor->Fill(static_cast<uint64_t>(options.seed));
    return std::vector<Operation>{MakeOperation("fused", 1, tensor, RunFused),
                                  MakeOperation("separate", 3, tensor, RunSeparate)};
  };
  kernel.verify = Verify;
  UseCpuPeaks(&kernel);
  return RunKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
