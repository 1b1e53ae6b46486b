#include "topology/gpu/nvml_counters.h"

#include <array>
#include <cstddef>
#include <utility>

namespace muster::topology {
namespace {

constexpr double kMebibyteBytes = 1024.0 * 1024.0;

// In the order in which they are asked for; the first kShares must all be told.
constexpr std::array kMetrics = {
    nvml::kGpmSmUtil,   nvml::kGpmAnyTensorUtil, nvml::kGpmDramBandwidthUtil,
    nvml::kGpmNvLinkRx, nvml::kGpmNvLinkTx,      nvml::kGpmPcieRx,
    nvml::kGpmPcieTx};
constexpr std::size_t kShares = 3;

// Both ways together, in bytes a second; nothing where either is not told.
std::optional<double> Traffic(const nvml::GpmMetric& in, const nvml::GpmMetric& out) {
  return in.result == nvml::kSuccess && out.result == nvml::kSuccess
             ? std::optional((in.value + out.value) * kMebibyteBytes)
             : std::nullopt;
}

}  // namespace

std::unique_ptr<NvmlCounters> NvmlCounters::Open(const nvml::Nvml& nvml, nvml::Device device) {
  nvml::GpmSupport support{nvml::kGpmVersion, 0};
  if (!nvml.gpm.complete() || nvml.IsDivided(device) ||
      nvml.gpm.support(device, &support) != nvml::kSuccess || support.supported == 0) {
    return nullptr;
  }
  std::unique_ptr<NvmlCounters> counters(new NvmlCounters(nvml, device));
  // Where users may not read them, or a sandbox does not let them through, the GPU says that it has
  // them and gives no sample.
  return counters->MakeSamples() &&
                 nvml.gpm.take_sample(device, counters->before_) == nvml::kSuccess
             ? std::move(counters)
             : nullptr;
}

bool NvmlCounters::MakeSamples() {
  return nvml_.gpm.make_sample(&before_) == nvml::kSuccess &&
         nvml_.gpm.make_sample(&after_) == nvml::kSuccess;
}

NvmlCounters::~NvmlCounters() {
  for (nvml::GpmSample sample : {before_, after_}) {
    if (sample != nullptr) {
      nvml_.gpm.free_sample(sample);
    }
  }
}

std::optional<GpuCounters> NvmlCounters::Read() {
  if (nvml_.gpm.take_sample(device_, after_) != nvml::kSuccess) {
    sampled_ = false;  // what comes next would cover more than one interval
    return std::nullopt;
  }
  const std::optional<GpuCounters> counters = sampled_ ? Between() : std::nullopt;
  std::swap(before_, after_);
  sampled_ = true;
  return counters;
}

std::optional<GpuCounters> NvmlCounters::Between() const {
  nvml::GpmMetricsGet asked{};
  asked.version = nvml::kGpmVersion;
  asked.count = kMetrics.size();
  asked.before = before_;
  asked.after = after_;
  for (std::size_t i = 0; i < kMetrics.size(); ++i) {
    asked.metrics[i].id = kMetrics[i];
  }
  if (nvml_.gpm.metrics(&asked) != nvml::kSuccess) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < kShares; ++i) {
    if (asked.metrics[i].result != nvml::kSuccess) {
      return std::nullopt;
    }
  }
  return GpuCounters{.sm_active = asked.metrics[0].value / 100,
                     .tensor_active = asked.metrics[1].value / 100,
                     .dram_active = asked.metrics[2].value / 100,
                     .nvlink = Traffic(asked.metrics[3], asked.metrics[4]),
                     .pcie = Traffic(asked.metrics[5], asked.metrics[6])};
}

}  // namespace muster::topology
