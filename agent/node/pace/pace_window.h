#pragma once

// What the looks of the last minute say of a rank's processes, and of a GPU.
//
// A look covers the time since the one before. Figures are medians over the looks, each weighed by
// its time: what held for less than half of the minute does not move them. Pure. Invariants: (1)
// the looks that are kept cover at least kPaceWindow, once there were enough, and the one before
// them is not needed for that; (2) what no look could tell is not told.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "scheduler/model/machine/gpu_pace.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/rank_pace.h"

namespace muster::agent {

inline constexpr std::chrono::seconds kPaceWindow{60};
inline constexpr std::size_t kPaceLooksMost = 128;

// In thousandths, as in RankPace.
struct RankLook {
  Duration span{0};
  std::optional<std::uint32_t> wanted = {};
  std::optional<std::uint32_t> granted = {};
  std::optional<std::uint32_t> stolen = {};
  std::optional<std::uint32_t> cpu_mhz = {};
};

class RankWindow {
 public:
  // Marks that are nearer to each other say too little of a rate.
  static constexpr std::chrono::seconds kMarksApart{30};

  void Add(const RankLook& look);
  // The newest step that one of its processes said, as it is at `now`; one that is known already is
  // none. Steps that begin again are counted from there.
  void Mark(double step, Time said, Time now);
  // Without step and rank.
  [[nodiscard]] RankPace Now() const;

 private:
  struct StepMark {
    double step = 0;
    Time said = kNoTime;
  };
  std::deque<RankLook> looks_;
  std::deque<StepMark> marks_;
};

struct GpuLook {
  Duration span{0};
  std::optional<std::uint32_t> busy_percent = {};
  std::optional<std::uint32_t> clock_mhz = {};
  std::optional<std::uint32_t> clock_most_mhz = {};
  std::optional<std::uint32_t> brakes = {};
  std::optional<std::uint32_t> work = {};  // in thousandths
  GpuLink link = {};
};

class GpuWindow {
 public:
  // A GPU that is less busy has a clock of its idleness.
  static constexpr std::uint32_t kBusyPercent = 50;

  void Add(const GpuLook& look);
  [[nodiscard]] GpuPace Now() const;

 private:
  std::deque<GpuLook> looks_;
};

}  // namespace muster::agent
