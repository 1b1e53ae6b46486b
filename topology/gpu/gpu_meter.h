#pragma once

// How busy GPUs of this machine are, and what they take. Vendors whose libraries say it implement
// it; OpenGpuMeter of libraries.h joins them.
//
// Thread promise: one thread at a time. Invariants: reading changes nothing on the GPU; a GPU that
// does not answer is reported as lost and not as idle; what a library cannot tell is not there.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/machine/gpu_pace.h"
#include "scheduler/model/value/units.h"

namespace muster::topology {

// What performance counters say of the time between two readings: shares of what the GPU has, 0 to
// 1, and bytes a second.
struct GpuCounters {
  double sm_active = 0;      // of the streaming multiprocessors, those that had work
  double tensor_active = 0;  // of the tensor cores' cycles, those in which they worked
  double dram_active = 0;    // of the device memory's bandwidth
  // To and from other GPUs, and the host; nothing where there is no such link to count.
  std::optional<double> nvlink = {};
  std::optional<double> pcie = {};
};

struct GpuReading {
  std::string uuid;
  // Of the last sampling period: some kernel ran. Nothing where it cannot tell, as where MIG
  // divides it.
  std::optional<std::uint32_t> busy_percent;
  std::optional<Bytes> memory_used;
  std::uint64_t energy_mj = 0;  // millijoules since the driver was loaded; 0: it cannot tell
  bool lost = false;            // it fell off the bus
  std::optional<std::uint64_t> uncorrected_ecc = {};  // errors since the driver was loaded
  std::uint64_t xid = 0;  // the newest error that the driver told since the meter began; 0: none
  std::optional<std::uint64_t> xids = {};  // how many it told; nothing: it tells none
  // The same of device memory: it was read or written.
  std::optional<std::uint32_t> memory_busy_percent = {};
  // Since the reading before; nothing at the first, and where it has no counters.
  std::optional<GpuCounters> counters = {};
  std::optional<std::uint64_t> power_mw = {};  // now, or of the last second
  std::optional<int> celsius = {};
  std::optional<std::uint64_t> corrected_ecc = {};  // since the driver was loaded
  std::optional<std::uint32_t> clock_mhz = {};      // of the streaming multiprocessors, now
  std::optional<std::uint32_t> clock_most_mhz = {};
  std::optional<std::uint32_t> brakes = {};  // what holds the clock down now: kBrake…
  GpuLink link = {};
  // Of the errors that the driver told since the meter began, those after which a GPU does not work
  // on as it should: the newest, and how many.
  std::uint64_t breaking_xid = 0;
  std::uint64_t breaking_xids = 0;
  std::string breaking_by = {};  // who told the newest of these; empty: its library
  std::map<std::uint64_t, std::uint64_t> xid_counts = {};  // of `xids`, how many of each number
  std::string pci = {};  // where it is, as "0000:3b:00"; empty: it cannot tell
};

// A process that has memory of a GPU.
struct GpuProcess {
  std::string uuid;  // of the GPU, or of the instance of one
  std::uint32_t pid = 0;
  Bytes memory;        // zero: it cannot tell
  bool draws = false;  // it only draws, and computes nothing
};

class GpuMeter {
 public:
  virtual ~GpuMeter() = default;
  GpuMeter(const GpuMeter&) = delete;
  GpuMeter& operator=(const GpuMeter&) = delete;

  // Each GPU as it is now. A few hundred microseconds a GPU.
  virtual std::vector<GpuReading> Read() = 0;
  // The same without what is counted since the reading before, which stays to be read.
  virtual std::vector<GpuReading> Glance() { return Read(); }

  // The processes that have memory of these GPUs now; none where it cannot tell. One that is on
  // several GPUs is there for each.
  virtual std::vector<GpuProcess> Processes() { return {}; }

 protected:
  GpuMeter() = default;
};

}  // namespace muster::topology
