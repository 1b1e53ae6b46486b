#pragma once

// What the GPUs of a rank did while their performance counters were read, and the same as rates.
//
// Counters are a GPU's: where several ranks or jobs share one, each is told what all of them did
// there. Invariants: there is no GpuWork of GPUs without counters; `counted` is not zero in one
// that is told; what a GPU has no link for is not there, and never 0.

#include <cstdint>
#include <optional>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

// GPU time, of all the GPUs together: half of the SMs at work for a second is half a second.
struct GpuWork {
  Duration counted{0};  // over which counters were read; the rest is of it
  Duration sm_active{0};
  Duration tensor_active{0};
  Duration dram_active{0};                 // of the device memory's bandwidth
  std::optional<Bytes> nvlink_bytes = {};  // to and from other GPUs
  std::optional<Bytes> pcie_bytes = {};    // to and from the host
  static constexpr auto Fields(auto list) {
    return list(Field{"counted", &GpuWork::counted}, Field{"sm_active", &GpuWork::sm_active},
                Field{"tensor_active", &GpuWork::tensor_active},
                Field{"dram_active", &GpuWork::dram_active},
                Field{"nvlink_bytes", &GpuWork::nvlink_bytes},
                Field{"pcie_bytes", &GpuWork::pcie_bytes});
  }
  void Add(const GpuWork& more) {
    counted += more.counted;
    sm_active += more.sm_active;
    tensor_active += more.tensor_active;
    dram_active += more.dram_active;
    for (const auto bytes : {&GpuWork::nvlink_bytes, &GpuWork::pcie_bytes}) {
      if ((more.*bytes).has_value()) {
        this->*bytes = (this->*bytes).value_or(Bytes()) + *(more.*bytes);
      }
    }
  }
  friend bool operator==(const GpuWork&, const GpuWork&) = default;
};

struct RankGpuWork {
  StepId step;
  std::uint32_t rank = 0;
  GpuWork work;
  static constexpr auto Fields(auto list) {
    return list(Field{"step", &RankGpuWork::step}, Field{"rank", &RankGpuWork::rank},
                Field{"work", &RankGpuWork::work});
  }
  friend bool operator==(const RankGpuWork&, const RankGpuWork&) = default;
};

// Shares of what the GPUs have, 0 to 1, and bytes a second of one GPU.
struct GpuRates {
  Duration counted{0};
  double sm_active = 0;
  double tensor_active = 0;
  double dram_active = 0;
  std::optional<double> nvlink = {};
  std::optional<double> pcie = {};
  static constexpr auto Fields(auto list) {
    return list(Field{"counted", &GpuRates::counted}, Field{"sm_active", &GpuRates::sm_active},
                Field{"tensor_active", &GpuRates::tensor_active},
                Field{"dram_active", &GpuRates::dram_active}, Field{"nvlink", &GpuRates::nvlink},
                Field{"pcie", &GpuRates::pcie});
  }
  friend bool operator==(const GpuRates&, const GpuRates&) = default;
};

// Nothing where nothing was counted.
inline std::optional<GpuRates> RatesOf(const GpuWork& work) {
  if (work.counted <= Duration(0)) {
    return std::nullopt;
  }
  const auto share = [&work](Duration part) {
    return static_cast<double>(part.count()) / static_cast<double>(work.counted.count());
  };
  const auto rate = [&work](const std::optional<Bytes>& bytes) {
    constexpr double kMsOfSecond = 1000;
    return bytes.has_value() ? std::optional(static_cast<double>(bytes->value()) * kMsOfSecond /
                                             static_cast<double>(work.counted.count()))
                             : std::nullopt;
  };
  return GpuRates{work.counted,
                  share(work.sm_active),
                  share(work.tensor_active),
                  share(work.dram_active),
                  rate(work.nvlink_bytes),
                  rate(work.pcie_bytes)};
}

}  // namespace muster
