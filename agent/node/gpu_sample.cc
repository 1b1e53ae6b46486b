#include "agent/node/gpu_sample.h"

namespace muster::agent {

wire::GpuSample SampleOf(const topology::GpuReading& gpu) {
  wire::GpuSample sample;
  sample.set_gpu(gpu.uuid);
  sample.set_xid(gpu.xid);
  if (gpu.uncorrected_ecc.has_value()) {
    sample.set_uncorrected_ecc(*gpu.uncorrected_ecc);
  }
  if (gpu.xids.has_value()) {
    sample.set_xids(*gpu.xids);
  }
  if (gpu.corrected_ecc.has_value()) {
    sample.set_corrected_ecc(*gpu.corrected_ecc);
  }
  if (gpu.memory_used.has_value()) {
    sample.set_memory_used(gpu.memory_used->value());
  }
  if (gpu.power_mw.has_value()) {
    sample.set_power(*gpu.power_mw);
  }
  if (gpu.celsius.has_value()) {
    sample.set_temperature(*gpu.celsius);
  }
  if (gpu.energy_mj > 0) {
    sample.set_energy(gpu.energy_mj);
  }
  if (gpu.busy_percent.has_value()) {
    sample.set_busy(*gpu.busy_percent);
  }
  return sample;
}

}  // namespace muster::agent
