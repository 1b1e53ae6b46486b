#pragma once

// How busy AMD's GPUs are and what they take: ROCm SMI again, kept open (AMD, "ROCm SMI API
// reference": rsmi_dev_busy_percent_get, rsmi_dev_energy_count_get).
//
// Thread promise: as GpuMeter's. Invariants: the library is loaded as long as the meter lives; it
// tells no XID errors, which are NVIDIA's.

#include <memory>
#include <string>
#include <vector>

#include "scheduler/model/machine/machine.h"
#include "topology/gpu/gpu_meter.h"

namespace muster::topology {

// Of these GPUs, which the library `file` listed. Null where there are none, or where it does not
// start or measures nothing.
std::unique_ptr<GpuMeter> OpenRocmMeter(const std::string& file, std::vector<Gpu> gpus);

}  // namespace muster::topology
