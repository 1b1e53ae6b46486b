// Says once a second what this machine's GPUs tell of themselves, as an agent asks them: beside a
// kernel of known arithmetic it shows whether the meter is right. Needs GPUs; no test runs it.
//
//   gpu_counters SECONDS

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "topology/gpu/libraries.h"

namespace muster {
namespace {

void Print(const char* name, std::optional<double> value, double unit, const char* of) {
  if (value.has_value()) {
    std::printf("  %s %.1f %s", name, *value / unit, of);
  } else {
    std::printf("  %s -", name);
  }
}

void Print(const topology::GpuReading& gpu) {
  constexpr double kPercent = 0.01;
  constexpr double kGigabyte = 1e9;
  const std::optional<topology::GpuCounters>& counters = gpu.counters;
  const auto counted = [&](double topology::GpuCounters::*member) {
    return counters.has_value() ? std::optional((*counters).*member) : std::nullopt;
  };
  std::printf("%s", gpu.uuid.substr(0, 12).c_str());
  Print("busy", gpu.busy_percent, 1, "%");
  Print("memory busy", gpu.memory_busy_percent, 1, "%");
  Print("SMs", counted(&topology::GpuCounters::sm_active), kPercent, "%");
  Print("tensor", counted(&topology::GpuCounters::tensor_active), kPercent, "%");
  Print("DRAM", counted(&topology::GpuCounters::dram_active), kPercent, "%");
  Print("NVLink", counters.has_value() ? counters->nvlink : std::nullopt, kGigabyte, "GB/s");
  Print("PCIe", counters.has_value() ? counters->pcie : std::nullopt, kGigabyte, "GB/s");
  std::printf("\n");
}

int Run(int seconds) {
  const std::unique_ptr<topology::GpuMeter> meter = topology::OpenGpuMeter();
  if (meter == nullptr) {
    std::fputs("gpu_counters: no library that measures GPUs, or no GPU\n", stderr);
    return 1;
  }
  meter->Read();
  for (int i = 0; i < seconds; ++i) {
    sleep(1);
    for (const topology::GpuReading& gpu : meter->Read()) {
      Print(gpu);
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  int seconds = 0;
  if (argc != 2 || !absl::SimpleAtoi(argv[1], &seconds) || seconds < 1) {
    std::fputs("usage: gpu_counters SECONDS\n", stderr);
    return 2;
  }
  return muster::Run(seconds);
}
