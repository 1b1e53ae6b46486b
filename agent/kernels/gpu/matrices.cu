#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/libraries.h"
#include "agent/kernels/gpu/operations.h"
#include "agent/kernels/harness/seeded.h"

namespace muster::kernels {
namespace {

// A block of 256 threads makes 128 x 128 elements of C, a thread 8 x 8 of them, from slices of A
// and B of depth 16 in shared memory, two of each so that one is filled while the other is used.
constexpr int kTile = 128;
constexpr int kDepth = 16;
constexpr int kThreads = 256;
constexpr int kOwn = 8;
constexpr int kPadded = kTile + 4;  // keeps 16-byte alignment, moves columns to other banks

struct Slices {
  float a[2][kDepth][kPadded];  // transposed: [k][row]
  float b[2][kDepth][kTile];
};

// What one thread carries from device to shared memory: 8 elements of A and of B.
struct Carried {
  float4 a[2];
  float4 b[2];
};

struct Problem {
  const float* a;
  const float* b;
  float* c;
  int n;
};

__device__ float ElementOr0(const float* data, int row, int column, int n) {
  return row < n && column < n ? data[static_cast<int64_t>(row) * n + column] : 0.0F;
}

// Four elements of a row; zeros outside the matrix.
__device__ float4 FourOf(const float* data, int row, int column, int n) {
  if (n % 4 == 0 && row < n && column + 4 <= n) {
    return *reinterpret_cast<const float4*>(data + static_cast<int64_t>(row) * n + column);
  }
  return make_float4(ElementOr0(data, row, column, n), ElementOr0(data, row, column + 1, n),
                     ElementOr0(data, row, column + 2, n), ElementOr0(data, row, column + 3, n));
}

__device__ void Fetch(const Problem& p, int row0, int column0, int k0, Carried* carried) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    const int at = thread + part * kThreads;
    carried->a[part] = FourOf(p.a, row0 + at / 4, k0 + at % 4 * 4, p.n);
    carried->b[part] = FourOf(p.b, k0 + at / 32, column0 + at % 32 * 4, p.n);
  }
}

__device__ void Put(const Carried& carried, int slice, Slices* slices) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    const int at = thread + part * kThreads;
    const int k = at % 4 * 4;
    const int row = at / 4;
    slices->a[slice][k][row] = carried.a[part].x;
    slices->a[slice][k + 1][row] = carried.a[part].y;
    slices->a[slice][k + 2][row] = carried.a[part].z;
    slices->a[slice][k + 3][row] = carried.a[part].w;
    *reinterpret_cast<float4*>(&slices->b[slice][at / 32][at % 32 * 4]) = carried.b[part];
  }
}

// The thread's 8 x 8: rows and columns in two groups of four, 64 apart, so that the 16-byte reads
// of a warp meet no bank twice.
__device__ void MultiplySlice(const Slices& slices, int slice, float (&sum)[kOwn][kOwn]) {
  const int row = static_cast<int>(threadIdx.x) / 16 * 4;
  const int column = static_cast<int>(threadIdx.x) % 16 * 4;
#pragma unroll
  for (int k = 0; k < kDepth; ++k) {
    float a[kOwn];
    float b[kOwn];
    *reinterpret_cast<float4*>(a) = *reinterpret_cast<const float4*>(&slices.a[slice][k][row]);
    *reinterpret_cast<float4*>(a + 4) =
        *reinterpret_cast<const float4*>(&slices.a[slice][k][row + 64]);
    *reinterpret_cast<float4*>(b) = *reinterpret_cast<const float4*>(&slices.b[slice][k][column]);
    *reinterpret_cast<float4*>(b + 4) =
        *reinterpret_cast<const float4*>(&slices.b[slice][k][column + 64]);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        sum[i][j] += a[i] * b[j];
      }
    }
  }
}

__device__ void Write(const Problem& p, int row0, int column0, const float (&sum)[kOwn][kOwn]) {
  const int thread_row = static_cast<int>(threadIdx.x) / 16 * 4;
  const int thread_column = static_cast<int>(threadIdx.x) % 16 * 4;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const int row = row0 + thread_row + i % 4 + i / 4 * 64;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = column0 + thread_column + half * 64;
      float* out = p.c + static_cast<int64_t>(row) * p.n + column;
      if (row < p.n && p.n % 4 == 0 && column + 4 <= p.n) {
        *reinterpret_cast<float4*>(out) = make_float4(sum[i][4 * half], sum[i][4 * half + 1],
                                                      sum[i][4 * half + 2], sum[i][4 * half + 3]);
      } else {
        for (int j = 0; row < p.n && j < 4 && column + j < p.n; ++j) {
          out[j] = sum[i][4 * half + j];
        }
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads, 2) Multiply(Problem p) {
  __shared__ Slices slices;
  const int row0 = static_cast<int>(blockIdx.y) * kTile;
  const int column0 = static_cast<int>(blockIdx.x) * kTile;
  float sum[kOwn][kOwn] = {};
  Carried carried;
  Fetch(p, row0, column0, 0, &carried);
  Put(carried, 0, &slices);
  __syncthreads();
  int slice = 0;
  for (int k = kDepth; k < p.n; k += kDepth) {
    Fetch(p, row0, column0, k, &carried);
    MultiplySlice(slices, slice, sum);
    Put(carried, 1 - slice, &slices);  // nobody reads that one: all passed the barrier behind it
    __syncthreads();
    slice = 1 - slice;
  }
  MultiplySlice(slices, slice, sum);
  Write(p, row0, column0, sum);
}

struct Matrices {
  explicit Matrices(int side)
      : n(side), a(int64_t{side} * side), b(int64_t{side} * side), c(int64_t{side} * side) {}

  void Launch(GPU(Stream_t) on) const {
    const unsigned tiles = BlocksFor(n, kTile);
    Multiply<<<dim3(tiles, tiles), kThreads, 0, on>>>({a.data(), b.data(), c.data(), n});
    MustLaunch("a matrix product");
  }

  int n;
  DeviceArray<float> a;
  DeviceArray<float> b;
  DeviceArray<float> c;
  Stream stream;
  Blas blas;
};

std::vector<float> Inputs(uint64_t seed, int n, float magnitude) {
  std::vector<float> values(static_cast<size_t>(n) * static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = magnitude * static_cast<float>(2 * SeededUnit(seed, i) - 1);
  }
  return values;
}

// `samples` elements against double precision, both corners among them; all must be numbers.
// The bound: (n + 1) epsilon x n x the largest product (Higham 2002, section 3.5).
void CheckProduct(const Matrices& m, int samples, double magnitude, const std::string& what,
                  Check* check) {
  const std::vector<float> a = m.a.Get();
  const std::vector<float> b = m.b.Get();
  const std::vector<float> c = m.c.Get();
  const auto n = static_cast<size_t>(m.n);
  check->Hold(what + ": elements that are no number",
              static_cast<double>(
                  std::count_if(c.begin(), c.end(), [](float value) { return std::isnan(value); })),
              0);
  double worst = 0;
  for (size_t i = 0; i < static_cast<size_t>(samples); ++i) {
    const size_t row = i == 1 ? n - 1 : i * 7919 % n;
    const size_t column = i == 1 ? n - 1 : i * 104729 % n;
    double sum = 0;
    for (size_t k = 0; k < n; ++k) {
      sum += static_cast<double>(a[row * n + k]) * static_cast<double>(b[k * n + column]);
    }
    worst = std::max(worst, ErrorOf(static_cast<double>(c[row * n + column]), sum));
  }
  const auto terms = static_cast<double>(n);
  check->Hold(
      what, worst,
      (terms + 1) * static_cast<double>(std::numeric_limits<float>::epsilon()) * terms * magnitude);
}

}  // namespace

void AddMatrixProducts(const GpuOptions& options, Operations* operations) {
  const int n = static_cast<int>(options.side);
  auto matrices = std::make_shared<Matrices>(n);
  matrices->a.Set(Inputs(options.seed, n, 1));
  matrices->b.Set(Inputs(options.seed + 1, n, 1));
  const auto side = static_cast<double>(n);
  for (const bool library : {false, true}) {
    if (library && !matrices->blas.found()) {
      continue;
    }
    const auto launch = [matrices, n, library](GPU(Stream_t) stream) {
      if (library) {
        matrices->blas.Multiply(n, matrices->a.data(), matrices->b.data(), matrices->c.data(),
                                stream);
      } else {
        matrices->Launch(stream);
      }
    };
    Operation operation;
    operation.name = library ? "gemm-library" : "gemm-tiled";
    operation.flop = 2 * side * side * side;
    operation.bytes = 3 * sizeof(float) * side * side;
    operation.run = [matrices, launch] { return TimeOn(matrices->stream, launch); };
    operation.check = [matrices, launch, name = operation.name](Check* check) {
      matrices->c.Poison();
      launch(matrices->stream.get());
      matrices->stream.Wait();
      CheckProduct(*matrices, 256, 1, name, check);
    };
    operations->push_back(operation);
  }
}

void VerifyMatrixProducts(uint64_t seed, Check* check) {
  for (const int n : {1, 2, 3, 4, 7, 15, 16, 17, 63, 65, 127, 128, 129, 130, 257, 260}) {
    for (const float magnitude : {1.0F, 0x1p60F}) {
      Matrices matrices(n);
      matrices.a.Set(Inputs(seed, n, magnitude));
      matrices.b.Set(Inputs(seed + 1, n, 1));
      matrices.c.Poison();
      matrices.Launch(matrices.stream.get());
      matrices.stream.Wait();
      CheckProduct(matrices, 4000, static_cast<double>(magnitude),
                   "tiled product of side " + std::to_string(n), check);
    }
  }
}

}  // namespace muster::kernels
