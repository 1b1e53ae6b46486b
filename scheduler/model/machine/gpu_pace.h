#pragma once

// How fast a GPU has been of late: its clock while it worked, what held the clock down, its links.
//
// Made by the agent over about a minute, judged beside the GPUs of a rank's peers. Invariant: what
// could not be read is not there, and never 0.

#include <cstdint>
#include <optional>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

// What held a GPU's clock down, as its driver says: bits of a set.
inline constexpr std::uint32_t kBrakePower = 1;     // its power limit
inline constexpr std::uint32_t kBrakeHeat = 2;      // it is too hot
inline constexpr std::uint32_t kBrakeHardware = 4;  // its hardware: heat, or too much current
inline constexpr std::uint32_t kBrakeSupply = 8;    // the machine's power supply asked for less
inline constexpr std::uint32_t kBrakeSetting = 16;  // a clock that an operator has set
inline constexpr std::uint32_t kBrakeGroup = 32;    // GPUs that are to have one clock

// Its links now.
struct GpuLink {
  std::optional<std::uint32_t> pcie_generation;
  std::optional<std::uint32_t> pcie_lanes;
  std::optional<std::uint32_t> nvlinks;  // that are up
  static constexpr auto Fields(auto list) {
    return list(Field{"pcie_generation", &GpuLink::pcie_generation},
                Field{"pcie_lanes", &GpuLink::pcie_lanes}, Field{"nvlinks", &GpuLink::nvlinks});
  }
  friend bool operator==(const GpuLink&, const GpuLink&) = default;
};

struct GpuPace {
  Duration span{0};         // that was looked at
  std::uint32_t looks = 0;  // of them, those at which it was busy; what follows is of these
  Duration busy{0};         // of the span
  std::optional<std::uint32_t> clock_mhz;  // the median, by time
  std::optional<std::uint32_t> clock_most_mhz;
  std::optional<std::uint32_t> brakes;  // those that held for half of that time, or more
  std::optional<std::uint32_t> work;    // of its multiprocessors, in thousandths, over all the span
  std::optional<GpuLink> link;          // at the last of them
  static constexpr auto Fields(auto list) {
    return list(Field{"span", &GpuPace::span}, Field{"looks", &GpuPace::looks},
                Field{"busy", &GpuPace::busy}, Field{"clock_mhz", &GpuPace::clock_mhz},
                Field{"clock_most_mhz", &GpuPace::clock_most_mhz},
                Field{"brakes", &GpuPace::brakes}, Field{"work", &GpuPace::work},
                Field{"link", &GpuPace::link});
  }
  friend bool operator==(const GpuPace&, const GpuPace&) = default;
};

}  // namespace muster
