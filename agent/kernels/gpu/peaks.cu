#include <algorithm>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/operations.h"

namespace muster::kernels {
namespace {

constexpr int kChains = 8;
constexpr int kRounds = 4096;
constexpr int kRepeats = 10;

// Independent chains that converge to 1; the store keeps them.
__global__ void MultiplyAdds(float half, float* sink) {
  float value[kChains];
#pragma unroll
  for (int i = 0; i < kChains; ++i) {
    value[i] = static_cast<float>(i) + half;
  }
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) {
      value[i] = fmaf(value[i], half, half);
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kChains; ++i) {
    sum += value[i];
  }
  sink[static_cast<int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x] = sum;
}

}  // namespace

Peaks MeasureGpuPeaks() {
  int device = 0;
  Must(GPU(GetDevice)(&device), "asking which GPU is in use");
  const DeviceProperties properties = PropertiesOf(device);
  const unsigned blocks = 16U * static_cast<unsigned>(properties.multiProcessorCount);
  Stream stream;
  DeviceArray<float> sink(int64_t{blocks} * kBlockThreads);
  const int64_t bytes = std::max<int64_t>(int64_t{16} * properties.l2CacheSize, int64_t{512} << 20);
  DeviceArray<unsigned char> from(bytes);
  DeviceArray<unsigned char> to(bytes);
  from.Poison();
  Peaks peaks;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const double arithmetic = TimeOn(stream, [&](GPU(Stream_t) on) {
      MultiplyAdds<<<blocks, kBlockThreads, 0, on>>>(0.5F, sink.data());
      MustLaunch("the arithmetic's peak");
    });
    const double copy = TimeOn(stream, [&](GPU(Stream_t) on) {
      Must(GPU(MemcpyAsync)(to.data(), from.data(), from.Bytes(), GPU(MemcpyDeviceToDevice), on),
           "copying within the GPU");
    });
    const double flop = 2.0 * kChains * kRounds * kBlockThreads * blocks;
    peaks.flop_per_s = std::max(peaks.flop_per_s, flop / arithmetic);
    peaks.bytes_per_s = std::max(peaks.bytes_per_s, 2.0 * static_cast<double>(bytes) / copy);
  }
  return peaks;
}

}  // namespace muster::kernels
