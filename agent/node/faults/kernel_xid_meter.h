#pragma once

// A meter that also hears the XID errors that the kernel's log tells of its GPUs.
//
// NVML and the log tell of the same errors: of each number the larger count holds, so that none
// counts twice and one that either misses counts once. Thread promise: as GpuMeter's. Invariant: a
// GPU whose library tells no errors tells those of the log.

#include <memory>
#include <utility>
#include <vector>

#include "agent/node/faults/kernel_xids.h"
#include "topology/gpu/gpu_meter.h"

namespace muster::agent {

class KernelXidMeter final : public topology::GpuMeter {
 public:
  KernelXidMeter(std::unique_ptr<topology::GpuMeter> meter, KernelXids log)
      : meter_(std::move(meter)), log_(std::move(log)) {}

  std::vector<topology::GpuReading> Read() override { return WithLog(meter_->Read()); }
  std::vector<topology::GpuReading> Glance() override { return WithLog(meter_->Glance()); }
  std::vector<topology::GpuProcess> Processes() override { return meter_->Processes(); }

 private:
  std::vector<topology::GpuReading> WithLog(std::vector<topology::GpuReading> readings);

  const std::unique_ptr<topology::GpuMeter> meter_;
  KernelXids log_;
};

}  // namespace muster::agent
