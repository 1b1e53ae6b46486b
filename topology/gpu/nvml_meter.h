#pragma once

// How busy NVIDIA's GPUs are and what they take: NVML again, kept open (NVIDIA, "NVML API
// Reference": nvmlDeviceGetUtilizationRates, nvmlDeviceGetTotalEnergyConsumption).
//
// Thread promise: as GpuMeter's. Invariant: NVML is loaded as long as the meter lives.

#include <memory>
#include <string>

#include "topology/gpu/gpu_meter.h"

namespace muster::topology {

// Null where `file` is empty or not there, does not start or has no GPU.
std::unique_ptr<GpuMeter> OpenNvmlMeter(const std::string& file);

}  // namespace muster::topology
