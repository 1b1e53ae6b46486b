#include <algorithm>
#include <cmath>
#include <memory>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/operations.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

// y = scale * gelu(gamma * (x - mean) / sqrt(variance + epsilon) + beta), GELU in its tanh form, as
// on the processor (see cpu/norm_gelu_rows.h for the sources).
constexpr float kScale = 0.75F;
constexpr float kEpsilon = 1e-5F;
constexpr double kTolerance = 3e-5;  // x (1 + |y|)

struct Rows {
  const float* in;
  float* out;
  const float* gamma;
  const float* beta;
  int columns;
};

__device__ float Gelu(float z) {
  const float inner = z + 0.044715F * z * z * z;
  const float bounded = fminf(fmaxf(-2 * 0.7978845608F * inner, -80.0F), 80.0F);
  return z / (1.0F + expf(bounded));
}

template <bool fused>
__device__ float Finish(float x, float mean, float reciprocal, float gamma, float beta) {
  const float z = (x - mean) * reciprocal * gamma + beta;
  return fused ? kScale * Gelu(z) : z;
}

// A block a row; the row stays in registers, four elements at a time, between its moments and its
// result. REQUIRES: columns is a multiple of 4 and at most 4 * kFours * kBlockThreads.
template <bool fused, int kFours>
__global__ void NormInRegisters(Rows rows) {
  __shared__ float shared[kWarpsMax];
  const int64_t row = static_cast<int64_t>(blockIdx.x) * rows.columns;
  const auto* in = reinterpret_cast<const float4*>(rows.in + row);
  const int fours = rows.columns / 4;
  float4 x[kFours];
  float sum = 0;
#pragma unroll
  for (int part = 0; part < kFours; ++part) {
    const int at = part * kBlockThreads + static_cast<int>(threadIdx.x);
    x[part] = at < fours ? in[at] : make_float4(0, 0, 0, 0);
    sum += (x[part].x + x[part].y) + (x[part].z + x[part].w);
  }
  const float mean = BlockSum(sum, shared) / static_cast<float>(rows.columns);
  float squares = 0;
#pragma unroll
  for (int part = 0; part < kFours; ++part) {
    const int at = part * kBlockThreads + static_cast<int>(threadIdx.x);
    if (at < fours) {
      const float4 d =
          make_float4(x[part].x - mean, x[part].y - mean, x[part].z - mean, x[part].w - mean);
      squares += (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w);
    }
  }
  const float variance = BlockSum(squares, shared) / static_cast<float>(rows.columns);
  const float reciprocal = rsqrtf(variance + kEpsilon);
#pragma unroll
  for (int part = 0; part < kFours; ++part) {
    const int at = part * kBlockThreads + static_cast<int>(threadIdx.x);
    if (at < fours) {
      const float4 g = reinterpret_cast<const float4*>(rows.gamma)[at];
      const float4 b = reinterpret_cast<const float4*>(rows.beta)[at];
      reinterpret_cast<float4*>(rows.out + row)[at] =
          make_float4(Finish<fused>(x[part].x, mean, reciprocal, g.x, b.x),
                      Finish<fused>(x[part].y, mean, reciprocal, g.y, b.y),
                      Finish<fused>(x[part].z, mean, reciprocal, g.z, b.z),
                      Finish<fused>(x[part].w, mean, reciprocal, g.w, b.w));
    }
  }
}

// Any number of columns; the row is read again, from the cache.
template <bool fused>
__global__ void NormAnyRow(Rows rows) {
  __shared__ float shared[kWarpsMax];
  const int64_t row = static_cast<int64_t>(blockIdx.x) * rows.columns;
  const float* in = rows.in + row;
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < rows.columns; i += kBlockThreads) {
    sum += in[i];
  }
  const float mean = BlockSum(sum, shared) / static_cast<float>(rows.columns);
  float squares = 0;
  for (int i = static_cast<int>(threadIdx.x); i < rows.columns; i += kBlockThreads) {
    squares += (in[i] - mean) * (in[i] - mean);
  }
  const float variance = BlockSum(squares, shared) / static_cast<float>(rows.columns);
  const float reciprocal = rsqrtf(variance + kEpsilon);
  for (int i = static_cast<int>(threadIdx.x); i < rows.columns; i += kBlockThreads) {
    rows.out[row + i] = Finish<fused>(in[i], mean, reciprocal, rows.gamma[i], rows.beta[i]);
  }
}

// In place, four elements a thread, the tail one by one.
template <bool gelu>
__global__ void MapInPlace(float* data, int64_t n) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
  const auto one = [](float value) { return gelu ? Gelu(value) : kScale * value; };
  if (4 * at + 4 <= n) {
    float4 four = reinterpret_cast<float4*>(data)[at];
    four = make_float4(one(four.x), one(four.y), one(four.z), one(four.w));
    reinterpret_cast<float4*>(data)[at] = four;
    return;
  }
  for (int64_t i = 4 * at; i < n; ++i) {
    data[i] = one(data[i]);
  }
}

template <bool fused>
void LaunchNorm(const Rows& rows, int64_t count, GPU(Stream_t) on) {
  const auto blocks = static_cast<unsigned>(count);
  if (rows.columns % 4 != 0 || rows.columns > 16 * kBlockThreads) {
    NormAnyRow<fused><<<blocks, kBlockThreads, 0, on>>>(rows);
  } else if (rows.columns <= 4 * kBlockThreads) {
    NormInRegisters<fused, 1><<<blocks, kBlockThreads, 0, on>>>(rows);
  } else if (rows.columns <= 8 * kBlockThreads) {
    NormInRegisters<fused, 2><<<blocks, kBlockThreads, 0, on>>>(rows);
  } else {
    NormInRegisters<fused, 4><<<blocks, kBlockThreads, 0, on>>>(rows);
  }
  MustLaunch("a normalisation");
}

struct Tensor {
  Tensor(int64_t row_count, int column_count, uint64_t seed, float magnitude)
      : rows(row_count),
        columns(column_count),
        in(row_count * column_count),
        out(row_count * column_count),
        gamma(column_count),
        beta(column_count),
        values(Inputs(seed, in.size(), magnitude)),
        gammas(Inputs(seed + 1, columns, 1)),
        betas(Inputs(seed + 2, columns, 1)) {
    in.Set(values);
    gamma.Set(gammas);
    beta.Set(betas);
  }

  static std::vector<float> Inputs(uint64_t seed, int64_t n, float magnitude) {
    std::vector<float> values(static_cast<size_t>(n));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = magnitude * static_cast<float>(2 * SeededUnit(seed, i) - 1);
    }
    return values;
  }

  void Launch(bool fused, GPU(Stream_t) on) const {
    const Rows all = {in.data(), out.data(), gamma.data(), beta.data(), columns};
    if (fused) {
      LaunchNorm<true>(all, rows, on);
      return;
    }
    LaunchNorm<false>(all, rows, on);
    const unsigned blocks = BlocksFor((out.size() + 3) / 4, kBlockThreads);
    MapInPlace<true><<<blocks, kBlockThreads, 0, on>>>(out.data(), out.size());
    MustLaunch("a GELU");
    MapInPlace<false><<<blocks, kBlockThreads, 0, on>>>(out.data(), out.size());
    MustLaunch("a scale");
  }

  double RowError(const std::vector<float>& result, int64_t row) const {
    const float* x = values.data() + row * columns;
    double mean = 0;
    for (int i = 0; i < columns; ++i) {
      mean += static_cast<double>(x[i]) / columns;
    }
    double variance = 0;
    for (int i = 0; i < columns; ++i) {
      variance += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean) / columns;
    }
    double worst = 0;
    for (int i = 0; i < columns; ++i) {
      const double unit =
          (static_cast<double>(x[i]) - mean) / std::sqrt(variance + static_cast<double>(kEpsilon));
      const auto at = static_cast<size_t>(i);
      const double z = unit * static_cast<double>(gammas[at]) + static_cast<double>(betas[at]);
      const double inner = std::sqrt(2 / 3.14159265358979323846) * (z + 0.044715 * z * z * z);
      const double y = static_cast<double>(kScale) * z / 2 * (1 + std::tanh(inner));
      const auto actual = static_cast<double>(result[static_cast<size_t>(row * columns + i)]);
      worst = std::max(worst, ErrorOf(actual, y) / (1 + std::abs(y)));
    }
    return worst;
  }

  // Runs once on poison; the largest error over up to 512 rows spread over the tensor.
  double ErrorOfRun(bool fused) {
    out.Poison();
    Launch(fused, stream.get());
    stream.Wait();
    const std::vector<float> result = out.Get();
    const int64_t step = std::max<int64_t>(1, rows / 512);
    double worst = RowError(result, rows - 1);
    for (int64_t row = 0; row < rows; row += step) {
      worst = std::max(worst, RowError(result, row));
    }
    return worst;
  }

  int64_t rows;
  int columns;
  DeviceArray<float> in;
  DeviceArray<float> out;
  DeviceArray<float> gamma;
  DeviceArray<float> beta;
  std::vector<float> values;
  std::vector<float> gammas;
  std::vector<float> betas;
  Stream stream;
};

}  // namespace

void AddNormGelu(const GpuOptions& options, Operations* operations) {
  const int64_t rows = std::max<int64_t>(1, options.n / options.columns);
  auto tensor = std::make_shared<Tensor>(rows, static_cast<int>(options.columns), options.seed, 1);
  for (const bool fused : {true, false}) {
    const auto elements = static_cast<double>(tensor->in.size());
    Operation operation;
    operation.name = fused ? "norm-gelu-fused" : "norm-gelu-separate";
    operation.flop = 20 * elements;
    operation.bytes = (fused ? 2.0 : 6.0) * sizeof(float) * elements;
    operation.run = [tensor, fused] {
      return TimeOn(tensor->stream, [&](GPU(Stream_t) on) { tensor->Launch(fused, on); });
    };
    operation.check = [tensor, fused, name = operation.name](Check* check) {
      check->Hold(name, tensor->ErrorOfRun(fused), kTolerance);
    };
    operations->push_back(operation);
  }
}

void VerifyNormGelu(uint64_t seed, Check* check) {
  for (const int columns : {1, 2, 3, 4, 31, 33, 128, 768, 1020, 1024, 1028, 2048, 4096, 4100}) {
    for (const float magnitude : {1.0F, 1e4F, 1e-4F, 0.0F}) {
      Tensor tensor(5, columns, seed, magnitude);
      for (const bool fused : {true, false}) {
        check->Hold((fused ? "fused norm of " : "separate norm of ") + std::to_string(columns) +
                        " columns of magnitude " + std::to_string(magnitude),
                    tensor.ErrorOfRun(fused), kTolerance);
      }
    }
  }
}

}  // namespace muster::kernels
