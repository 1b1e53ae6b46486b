// gemm: the single-precision matrix product C = A * B.

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/kernels/cpu/blocking_search.h"
#include "agent/kernels/cpu/cpu_peaks.h"
#include "agent/kernels/cpu/matrix_product.h"
#include "agent/kernels/cpu/vector_loops.h"
#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/harness/tuning.h"
#include "agent/kernels/place/team.h"

namespace muster::kernels {
namespace {

using Json = nlohmann::ordered_json;

struct Matrices {
  Matrices(int64_t m, int64_t n, int64_t k)
      : rows(m), columns(n), depth(k), a(m * k), b(k * n), c(m * n) {}

  bool allocated() const {
    return a.data() != nullptr && b.data() != nullptr && c.data() != nullptr;
  }

  bool Multiply() {
    return MatrixProduct({rows, columns, depth}, a.data(), b.data(), c.data(), blocking);
  }

  // One element in double precision.
  double Element(int64_t row, int64_t column) const {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += static_cast<double>(a.data()[row * depth + k]) *
             static_cast<double>(b.data()[k * columns + column]);
    }
    return sum;
  }

  int64_t rows;
  int64_t columns;
  int64_t depth;
  Blocking blocking;  // by rule, unless a search said otherwise
  Aligned<float> a;
  Aligned<float> b;
  Aligned<float> c;
};

void Fill(uint64_t seed, Matrices* matrices) {
  FillSeeded(seed, 0, matrices->a.data(), matrices->a.size());
  FillSeeded(seed, 1, matrices->b.data(), matrices->b.size());
  RunTeam(matrices->c.size(), sizeof(float), [&](IndexRange own) {
    std::fill(matrices->c.data() + own.begin, matrices->c.data() + own.end,
              std::numeric_limits<float>::quiet_NaN());
  });
}

// Every element must be a number, and `samples` of them, spread over the matrix, right.
void CheckSamples(const Matrices& m, int64_t samples, Check* check) {
  double unwritten = 0;
  for (int64_t i = 0; i < m.c.size(); ++i) {
    unwritten += std::isnan(m.c.data()[i]) ? 1 : 0;
  }
  check->Hold("elements that are no number", unwritten, 0);
  double worst = 0;
  for (int64_t i = 0; i < samples; ++i) {
    // Both ends and a walk between them; the steps are prime so that no tile is preferred.
    const int64_t row = i == 0 ? 0 : (i == 1 ? m.rows - 1 : i * 7919 % m.rows);
    const int64_t column = i == 0 ? 0 : (i == 1 ? m.columns - 1 : i * 104729 % m.columns);
    worst = std::max(worst, ErrorOf(m.c.data()[row * m.columns + column], m.Element(row, column)));
  }
  check->Hold("product", worst, ProductTolerance(m.depth, 1, 1));
}

// Where the block sizes come from, and what a search found.
struct Tuned {
  double budget = 0;  // seconds of a search; 0: none
  Blocking blocking;
  std::string source = "rule";
  std::optional<BlockingSearch> search;
};

TuningKey KeyOf(int64_t n) {
  const std::string side = std::to_string(n);
  return {
      "gemm", side + "x" + side + "x" + side, "float32",
      CpuModel() + ", " + SimdName() + ", " + std::to_string(omp_get_max_threads()) + " threads"};
}

Json BlockingJson(const Blocking& blocking) {
  return {{"rows", blocking.rows}, {"depth", blocking.depth}, {"columns", blocking.columns}};
}

// A choice that can be meant; nothing for any other.
std::optional<Blocking> ReadBlocking(const Json& choice) {
  Blocking blocking;
  for (const auto& [name, size] : {std::pair{"rows", &blocking.rows},
                                   {"depth", &blocking.depth},
                                   {"columns", &blocking.columns}}) {
    const auto found = choice.find(name);
    if (!choice.is_object() || found == choice.end() || !found->is_number_integer()) {
      return std::nullopt;
    }
    *size = found->get<int64_t>();
  }
  return IsBlocking(blocking) ? std::optional(blocking) : std::nullopt;
}

// Each candidate's result is looked at before its time counts.
void Search(Matrices* matrices, Tuned* tuned) {
  const auto run = [matrices](const Blocking& blocking) -> std::optional<double> {
    matrices->blocking = blocking;
    std::fill(matrices->c.data(), matrices->c.data() + matrices->c.size(),
              std::numeric_limits<float>::quiet_NaN());
    const double begin = MonotonicSeconds();
    const bool done = IsBlocking(blocking) && matrices->Multiply();
    const double seconds = MonotonicSeconds() - begin;
    Check check;
    CheckSamples(*matrices, 32, &check);
    return done && check.ok() ? std::optional(seconds) : std::nullopt;
  };
  tuned->search =
      SearchBlocking(BlockingFor(matrices->rows, omp_get_max_threads()), tuned->budget, run);
  tuned->blocking = tuned->search->best;
  tuned->source = "search";
  KeepTuning(KeyOf(matrices->rows), TuningsFile(), BlockingJson(tuned->blocking));
}

void Choose(Matrices* matrices, Tuned* tuned) {
  if (tuned->budget > 0) {
    Search(matrices, tuned);
  } else if (const std::optional<Json> kept =
                 FindTuning(KeyOf(matrices->rows), TuningsFile(), GivenTunings())) {
    if (const std::optional<Blocking> blocking = ReadBlocking(*kept)) {
      tuned->blocking = *blocking;
      tuned->source = "tuned";
    }
  }
  matrices->blocking = tuned->blocking;
}

Json Facts(const Tuned& tuned, int64_t n) {
  Json facts = CpuFacts();
  facts["blocking"] = BlockingJson(tuned.blocking);
  facts["blocking"]["source"] = tuned.source;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets one
  const char* spin = std::getenv("GOMP_SPINCOUNT");
  facts["spin_count"] = spin == nullptr ? Json(nullptr) : Json(spin);
  if (tuned.search.has_value()) {
    const BlockingSearch& search = *tuned.search;
    facts["tuning"] = TuningJson(KeyOf(n), BlockingJson(search.best));
    facts["tuning"]["seconds"] = search.seconds;
    facts["tuning"]["seconds_by_rule"] = search.first_seconds;
    facts["tuning"]["tried"] = search.tried;
    facts["tuning"]["rejected"] = search.rejected;
  }
  return facts;
}

std::optional<std::vector<Operation>> Prepare(const BenchOptions& options, Tuned* tuned) {
  const int64_t n = options.n;
  auto matrices = std::make_shared<Matrices>(n, n, n);
  if (!matrices->allocated()) {
    return std::nullopt;
  }
  Fill(static_cast<uint64_t>(options.seed), matrices.get());
  Choose(matrices.get(), tuned);
  const auto side = static_cast<double>(n);
  Operation operation;
  operation.name = "gemm-f32";
  operation.flop = 2 * side * side * side;
  operation.bytes = 3 * sizeof(float) * side * side;
  operation.run = [matrices] {
    const double begin = MonotonicSeconds();
    // Refused panels leave C as it was: the check then finds no number.
    static_cast<void>(matrices->Multiply());
    return MonotonicSeconds() - begin;
  };
  operation.check = [matrices](Check* check) { CheckSamples(*matrices, 256, check); };
  return std::vector<Operation>{operation};
}

// The whole product of one shape, every element.
void VerifyShape(int64_t m, int64_t n, int64_t k, float magnitude, Check* check) {
  Matrices matrices(m, n, k);
  Fill(3, &matrices);
  for (int64_t i = 0; i < matrices.a.size(); ++i) {
    matrices.a.data()[i] *= magnitude;
  }
  matrices.Multiply();
  double worst = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      worst = std::max(worst, ErrorOf(matrices.c.data()[i * n + j], matrices.Element(i, j)));
    }
  }
  const std::string what = std::to_string(m) + " x " + std::to_string(n) + " x " +
                           std::to_string(k) + " of magnitude " + std::to_string(magnitude);
  // The second term: products below the smallest normal number lose digits.
  check->Hold(what, worst,
              ProductTolerance(k, static_cast<double>(magnitude), 1) +
                  static_cast<double>(k) * static_cast<double>(std::numeric_limits<float>::min()));
}

void Verify(const BenchOptions& /*options*/, Check* check) {
  for (const int64_t n : {1, 2, 5, 6, 7, 15, 16, 17, 31, 33, 64, 97, 121}) {
    VerifyShape(n, n, n, 1, check);
  }
  for (const int64_t k : {1, 255, 256, 257, 513}) {
    VerifyShape(13, 35, k, 1, check);
  }
  VerifyShape(1, 4101, 3, 1, check);
  VerifyShape(245, 1, 19, 1, check);
  VerifyShape(37, 29, 41, 0x1p100F, check);
  VerifyShape(37, 29, 41, 0x1p-120F, check);
}

double BytesNeeded(int64_t n) {
  const auto side = static_cast<double>(n);
  return 3 * sizeof(float) * side * side + static_cast<double>(PanelBytes(omp_get_max_threads()));
}

int Run(int argc, char** argv) {
  Kernel kernel;
  kernel.name = "gemm";
  kernel.purpose =
      "the single-precision product of two square matrices by all threads: packed "
      "panels and a\nregister tile of fused multiply-adds.";
  kernel.example = "OMP_NUM_THREADS=4 gemm --n 4096 --json";
  kernel.n_meaning = "rows and columns of each matrix";
  kernel.n = 2048;
  kernel.n_max = int64_t{1} << 24;
  kernel.tolerance = "(depth + 1) epsilon x depth x the largest product, against double precision";
  kernel.bytes_needed = BytesNeeded;
  auto tuned = std::make_shared<Tuned>();
  auto side = std::make_shared<int64_t>(0);
  kernel.add_options = [tuned](CommandLine* line) {
    line->AddReal("tune", "search this many seconds for the best block sizes, and keep them",
                  &tuned->budget, 0, 86400);
  };
  kernel.prepare = [tuned, side](const BenchOptions& options) {
    *side = options.n;
    return Prepare(options, tuned.get());
  };
  kernel.verify = Verify;
  UseCpuPeaks(&kernel);
  kernel.facts = [tuned, side] { return Facts(*tuned, *side); };
  return RunKernel(kernel, argc, argv);
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
