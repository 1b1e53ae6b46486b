#pragma once

// What this machine's processors take: the kernel's powercap counters (Linux kernel, "Power Capping
// Framework", Documentation/power/powercap/powercap.rst; RAPL, of Intel and AMD).
//
// Of the zones only processor packages count: what else there is (cores, memory) lies in them or is
// no processor. Thread promise: one thread at a time. Invariants: reading changes nothing; the sum
// never goes down, also when a counter begins again from nothing.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace muster::topology {

class CpuEnergyMeter {
 public:
  // Null where there is no package whose counter we may read; since Linux 5.10 that is root alone.
  static std::unique_ptr<CpuEnergyMeter> Open(const std::string& root = "/sys/class/powercap");

  // Microjoules since it was opened. Has to be read once in a counter's range: 262 kJ on many
  // machines, which 1 kW fills in four minutes.
  std::uint64_t Read();

 private:
  struct Package {
    std::string path;
    std::uint64_t range = 0;  // after which the counter begins from nothing
    std::uint64_t last = 0;
  };
  explicit CpuEnergyMeter(std::vector<Package> packages) : packages_(std::move(packages)) {}

  std::vector<Package> packages_;
  std::uint64_t sum_ = 0;
};

}  // namespace muster::topology
