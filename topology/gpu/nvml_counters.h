#pragma once

// The performance counters of one NVIDIA GPU, by NVML's GPM (NVIDIA, "NVML API Reference", "GPM
// Functions"): Hopper and later.
//
// Thread promise: as GpuMeter's. Invariant: what is read covers the time since the reading before,
// all of it and nothing else.

#include <memory>
#include <optional>

#include "topology/gpu/gpu_meter.h"
#include "topology/gpu/nvml.h"

namespace muster::topology {

class NvmlCounters {
 public:
  // Null where this GPU, this NVML or this user has none, and where MIG divides the GPU, because
  // what it does is then several owners'. `nvml` has started and outlives the counters.
  static std::unique_ptr<NvmlCounters> Open(const nvml::Nvml& nvml, nvml::Device device);
  NvmlCounters(const NvmlCounters&) = delete;
  NvmlCounters& operator=(const NvmlCounters&) = delete;
  ~NvmlCounters();

  // Nothing at the first reading, and where one of the shares cannot be told. Two readings less
  // than 100 ms apart tell nothing either: the counters are not read more often.
  std::optional<GpuCounters> Read();

 private:
  NvmlCounters(const nvml::Nvml& nvml, nvml::Device device) : nvml_(nvml), device_(device) {}
  bool MakeSamples();
  [[nodiscard]] std::optional<GpuCounters> Between() const;

  const nvml::Nvml& nvml_;
  const nvml::Device device_;
  nvml::GpmSample before_ = nullptr;
  nvml::GpmSample after_ = nullptr;
  bool sampled_ = false;  // `before_` holds a sample
};

}  // namespace muster::topology
