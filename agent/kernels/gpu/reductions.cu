#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/operations.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

constexpr int kReductionThreads = 512;
constexpr int kBlocks = 1024;  // of the first step; the second is one block

enum class Term { kValue, kSquare };

template <Term term>
__device__ float Of(float value) {
  return term == Term::kSquare ? value * value : value;
}

// Each thread sums what is a grid apart in four accumulators, then the warp and the block sum by
// shuffles. One partial sum a block: no atomics, so the bits are the same every time.
template <Term term>
__global__ void SumBlocks(const float* __restrict__ in, int64_t n, double* __restrict__ partial) {
  __shared__ double shared[kWarpsMax];
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kReductionThreads;
  const auto* fours = reinterpret_cast<const float4*>(in);
  float4 sum = make_float4(0, 0, 0, 0);
  int64_t at = static_cast<int64_t>(blockIdx.x) * kReductionThreads + threadIdx.x;
  const int64_t first = at;
#pragma unroll 4
  for (; at < n / 4; at += stride) {
    const float4 value = fours[at];
    sum.x += Of<term>(value.x);
    sum.y += Of<term>(value.y);
    sum.z += Of<term>(value.z);
    sum.w += Of<term>(value.w);
  }
  double own = (static_cast<double>(sum.x) + static_cast<double>(sum.y)) +
               (static_cast<double>(sum.z) + static_cast<double>(sum.w));
  const int64_t tail = n / 4 * 4 + first;  // at most three elements, by the first threads
  if (tail < n) {
    own += static_cast<double>(Of<term>(in[tail]));
  }
  own = BlockSum(own, shared);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = own;
  }
}

__global__ void SumPartials(const double* __restrict__ partial, int count,
                            double* __restrict__ out) {
  __shared__ double shared[kWarpsMax];
  double own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kReductionThreads) {
    own += partial[i];
  }
  own = BlockSum(own, shared);
  if (threadIdx.x == 0) {
    *out = own;
  }
}

struct Reduction {
  explicit Reduction(int64_t n) : in(n), partial(kBlocks), out(1) {}

  void Launch(Term term, GPU(Stream_t) on) {
    const unsigned blocks = BlocksFor((in.size() + 3) / 4, kReductionThreads, kBlocks);
    if (term == Term::kSquare) {
      SumBlocks<Term::kSquare>
          <<<blocks, kReductionThreads, 0, on>>>(in.data(), in.size(), partial.data());
    } else {
      SumBlocks<Term::kValue>
          <<<blocks, kReductionThreads, 0, on>>>(in.data(), in.size(), partial.data());
    }
    MustLaunch("a reduction");
    SumPartials<<<1, kReductionThreads, 0, on>>>(partial.data(), static_cast<int>(blocks),
                                                 out.data());
    MustLaunch("the reduction's second step");
  }

  DeviceArray<float> in;
  DeviceArray<double> partial;
  DeviceArray<double> out;
  Stream stream;
};

// The longest chain of single-precision additions in one accumulator, plus its square's rounding.
double Tolerance(int64_t n) {
  const double chain = std::ceil(static_cast<double>(n) / (4.0 * kReductionThreads * kBlocks));
  return (chain + 8) * static_cast<double>(std::numeric_limits<float>::epsilon());
}

void Compare(const std::string& what, const std::vector<float>& in, Term term, double actual,
             Check* check) {
  long double sum = 0;
  long double magnitude = 0;
  for (const float value : in) {
    const auto precise = static_cast<long double>(value);
    const long double each = term == Term::kSquare ? precise * precise : precise;
    sum += each;
    magnitude += std::abs(each);
  }
  check->Hold(what, ErrorOf(actual, static_cast<double>(sum)),
              Tolerance(static_cast<int64_t>(in.size())) * static_cast<double>(magnitude));
}

double ResultOf(Reduction* reduction, Term term) {
  reduction->out.Poison();
  reduction->partial.Poison();
  reduction->Launch(term, reduction->stream.get());
  reduction->stream.Wait();
  return reduction->out.Get().front();
}

std::vector<float> Inputs(uint64_t seed, int64_t n, bool extreme) {
  std::vector<float> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const auto unit = static_cast<float>(2 * SeededUnit(seed, static_cast<uint64_t>(i)) - 1);
    const float large = i % 2 == 0 ? 0x1p60F : -0x1p60F;
    values[static_cast<size_t>(i)] = extreme && i % 4 < 2 ? large : unit;
  }
  return values;
}

}  // namespace

void AddReductions(const GpuOptions& options, Operations* operations) {
  auto reduction = std::make_shared<Reduction>(options.n);
  auto values = std::make_shared<std::vector<float>>(Inputs(options.seed, options.n, false));
  reduction->in.Set(*values);
  for (const Term term : {Term::kValue, Term::kSquare}) {
    Operation operation;
    operation.name = term == Term::kSquare ? "sum-squares" : "sum";
    operation.flop = (term == Term::kSquare ? 2.0 : 1.0) * static_cast<double>(options.n);
    operation.bytes = sizeof(float) * static_cast<double>(options.n);
    operation.run = [reduction, term] {
      return TimeOn(reduction->stream,
                    [&](GPU(Stream_t) stream) { reduction->Launch(term, stream); });
    };
    operation.check = [reduction, values, term, name = operation.name](Check* check) {
      Compare(name, *values, term, ResultOf(reduction.get(), term), check);
    };
    operations->push_back(operation);
  }
}

void VerifyReductions(uint64_t seed, Check* check) {
  for (const int64_t n : {1, 2, 3, 4, 31, 32, 33, 511, 512, 2047, 2049, 100003, 4194305}) {
    for (const bool extreme : {false, true}) {
      Reduction reduction(n);
      const std::vector<float> values = Inputs(seed, n, extreme);
      reduction.in.Set(values);
      const std::string what = std::to_string(n) + (extreme ? " extreme" : "") + " elements";
      Compare("sum of " + what, values, Term::kValue, ResultOf(&reduction, Term::kValue), check);
      if (!extreme) {
        Compare("sum of squares of " + what, values, Term::kSquare,
                ResultOf(&reduction, Term::kSquare), check);
      }
    }
  }
}

}  // namespace muster::kernels
