#include "agent/node/faults/kernel_xid_meter.h"

#include <cstdint>

#include "scheduler/model/machine/xid_error.h"

namespace muster::agent {
namespace {

void AddXids(const std::map<std::uint64_t, std::uint64_t>& logged, topology::GpuReading& gpu) {
  for (const auto& [number, count] : logged) {
    std::uint64_t& known = gpu.xid_counts[number];
    const std::uint64_t more = count > known ? count - known : 0;
    if (more == 0) {
      continue;
    }
    known = count;
    gpu.xid = number;
    gpu.xids = gpu.xids.value_or(0) + more;
    if (XidBreaksGpu(number)) {
      gpu.breaking_xid = number;
      gpu.breaking_xids += more;
      gpu.breaking_by = "the kernel's log";
    }
  }
}

}  // namespace

std::vector<topology::GpuReading> KernelXidMeter::WithLog(
    std::vector<topology::GpuReading> readings) {
  const KernelXids::Counts& logged = log_.Read();
  for (topology::GpuReading& gpu : readings) {
    if (gpu.pci.empty()) {
      continue;  // of another vendor, or it does not say where it is
    }
    gpu.xids = gpu.xids.value_or(0);
    if (const auto own = logged.find(gpu.pci); own != logged.end()) {
      AddXids(own->second, gpu);
    }
  }
  return readings;
}

}  // namespace muster::agent
