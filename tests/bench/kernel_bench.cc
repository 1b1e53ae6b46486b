// The bundled kernels beside what a compiler makes of the plain loops, and beside OpenBLAS where it
// is installed.
//
// Each line measures both in turn, several times, and tells the median of the ratios: a machine
// that others use disturbs both alike.

#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "agent/kernels/cpu/matrix_product.h"
#include "agent/kernels/cpu/stream_arrays.h"
#include "agent/kernels/cpu/sums.h"
#include "agent/kernels/harness/bench.h"
#include "agent/kernels/place/team.h"
#include "tests/bench/plain_stream.h"

namespace muster::kernels {
namespace {

constexpr int kRounds = 21;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double Seconds(const std::function<void()>& work) {
  const double begin = MonotonicSeconds();
  work();
  return MonotonicSeconds() - begin;
}

// Prints what `amount` (bytes or operations) over the seconds of each gives, and the median of the
// rounds' ratios.
void Compare(const char* what, double amount, const char* unit, const std::function<void()>& ours,
             const std::function<void()>& theirs, double aim) {
  ours();
  theirs();
  std::vector<double> ours_seconds;
  std::vector<double> theirs_seconds;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    ours_seconds.push_back(Seconds(ours));
    theirs_seconds.push_back(Seconds(theirs));
    ratios.push_back(theirs_seconds.back() / ours_seconds.back());
  }
  std::printf(
      "%-52s ours %8.2f, beside %8.2f %s (medians); best %8.2f, %8.2f; ratio %.2f (aim %.2f)\n",
      what, amount / Median(ours_seconds) * 1e-9, amount / Median(theirs_seconds) * 1e-9, unit,
      amount / *std::min_element(ours_seconds.begin(), ours_seconds.end()) * 1e-9,
      amount / *std::min_element(theirs_seconds.begin(), theirs_seconds.end()) * 1e-9,
      Median(ratios), aim);
}

void BenchTriad() {
  constexpr int64_t kElements = int64_t{16} << 20;
  StreamArrays arrays(kElements, 1);
  PlainStream plain(kElements);
  if (!arrays.allocated() || !plain.allocated()) {
    std::puts("triad: no memory");
    return;
  }
  Compare(
      "triad beside plain -O3 -march=native OpenMP", 24.0 * kElements, "GB/s",
      [&] { arrays.Run(StreamOperation::kTriad, 3); }, [&] { plain.Triad(3); }, 0.95);
}

void BenchSumSquares() {
  constexpr int64_t kElements = int64_t{32} << 20;
  Aligned<double> in(kElements);
  Aligned<double> partial(PartialSums(kElements));
  PlainStream plain(kElements);
  if (in.data() == nullptr || partial.data() == nullptr || !plain.allocated()) {
    std::puts("sum of squares: no memory");
    return;
  }
  FillSeeded(1, 0, in.data(), kElements);
  double sink = 0;
  Compare(
      "sum of squares beside a plain reading loop", 8.0 * kElements, "GB/s",
      [&] { sink += SumSquaresOf(in.data(), kElements, partial.data()); },
      [&] { sink += plain.Read(); }, 0.9);
  if (sink < 0) {
    std::puts("squares cannot be negative");
  }
}

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                       float, float*, int);
using SetThreads = void (*)(int);

void BenchMatrixProduct() {
  // Asked for by its own name: what libblas.so.3 is on this machine may be another.
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == nullptr) {
    std::puts("matrix product: OpenBLAS is not installed (apt-get install libopenblas0)");
    return;
  }
  auto* sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
  auto* set_threads = reinterpret_cast<SetThreads>(dlsym(library, "openblas_set_num_threads"));
  if (sgemm == nullptr || set_threads == nullptr) {
    std::puts("matrix product: this OpenBLAS has no cblas_sgemm");
    return;
  }
  set_threads(omp_get_max_threads());
  for (const int n : {256, 512, 1024, 1536, 2048}) {
    const int64_t elements = int64_t{n} * n;
    Aligned<float> a(elements);
    Aligned<float> b(elements);
    Aligned<float> c(elements);
    FillSeeded(1, 0, a.data(), elements);
    FillSeeded(1, 1, b.data(), elements);
    const double flop = 2.0 * n * n * n;
    Compare(("matrix product of side " + std::to_string(n) + " beside OpenBLAS").c_str(), flop,
            "GFLOP/s",
            [&] {
              MatrixProduct({n, n, n}, a.data(), b.data(), c.data());
            },
            [&] { sgemm(101, 111, 111, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n); },
            0.6);
  }
}

}  // namespace
}  // namespace muster::kernels

int main() {
  std::printf("%d threads, %d rounds\n", omp_get_max_threads(), muster::kernels::kRounds);
  muster::kernels::BenchTriad();
  muster::kernels::BenchSumSquares();
  muster::kernels::BenchMatrixProduct();
  return 0;
}
