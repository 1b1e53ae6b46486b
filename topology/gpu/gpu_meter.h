#pragma once

// How busy this machine's NVIDIA GPUs are, and what they take: NVML again, kept open (NVIDIA, "NVML
// API Reference": nvmlDeviceGetUtilizationRates, nvmlDeviceGetTotalEnergyConsumption).
//
// Thread promise: one thread at a time. Invariant: reading changes nothing on the GPU, and a GPU
// that does not answer is reported as lost and not as idle.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/units.h"

namespace muster {

struct GpuReading {
  std::string uuid;
  // Of the last sampling period: some kernel ran. Nothing where it cannot tell, as where MIG
  // divides it.
  std::optional<std::uint32_t> busy_percent;
  Bytes memory_used;
  std::uint64_t energy_mj = 0;  // millijoules since the driver was loaded; 0: it cannot tell
  bool lost = false;            // it fell off the bus
};

class GpuMeter {
 public:
  // Null where `library` (NvmlLibrary()) is not there, does not start or has no GPU.
  static std::unique_ptr<GpuMeter> Open(const std::string& library);
  virtual ~GpuMeter() = default;
  GpuMeter(const GpuMeter&) = delete;
  GpuMeter& operator=(const GpuMeter&) = delete;

  // Each GPU as it is now. A few hundred microseconds a GPU.
  virtual std::vector<GpuReading> Read() = 0;

 protected:
  GpuMeter() = default;
};

}  // namespace muster
