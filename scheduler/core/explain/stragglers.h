#pragma once

// Which ranks of a running job are slower than their peers, by what their nodes have seen of them
// over a minute.
//
// In a program whose ranks wait for each other all of them progress alike, and the slow one is the
// one that waits least. It is found by what makes it slow: a GPU that clocks lower than its peers'
// while it works, CPU time that others took, a CPU that clocks lower, or by what its own programs
// say of its progress, where these do not wait. That a GPU works while its peers' wait is told as a
// suspicion, because a larger part of the work looks the same.
//
// The peers of a rank are the ranks of its step, for GPUs those of the same model. Of n values the
// median is the upper one, so that of two ranks the faster is what the other is held to, and the
// median absolute deviation (MAD) the lower one. A rank is slower when its value is kFallPercent
// below the median or more, and 0.6745 (median - value) / MAD is above kScoreLeast: the modified
// z-score and its bound of B. Iglewicz and D. C. Hoaglin, "How to Detect and Handle Outliers"
// (ASQC, 1993), which half of the ranks cannot move. The fall is ours: GPUs of one model differ by
// 8 % on average under one load (P. Sinha et al., "Not All GPUs Are Created Equal", SC 2022).
//
// Pure. Invariants: (1) who is named is below the median, so never more than half of a step's
// ranks; (2) the order of the ranks changes nothing; (3) what was not told, or looked at for less
// than a minute, decides nothing and is named as unknown.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/machine/gpu_pace.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/view/rank_pace.h"
#include "scheduler/model/view/stragglers.h"

namespace muster::core {

struct PacedGpu {
  std::string uuid;
  std::string model;
  std::optional<GpuPace> pace;  // nothing: it was not told
};

// A rank of a step that runs.
struct PacedRank {
  StepId step;
  std::uint32_t rank = 0;
  std::string node;
  std::string nic;               // empty: it has none of its own
  std::optional<RankPace> pace;  // nothing: it was not told
  std::vector<PacedGpu> gpus;    // its own
};

inline constexpr std::chrono::seconds kPacedLeast{60};
inline constexpr std::uint32_t kPacedLooksLeast = 4;  // of a GPU at work, over half of the span
inline constexpr std::int64_t kFallPercent = 10;
inline constexpr double kScoreLeast = 3.5;
inline constexpr std::uint32_t kWantedLeast = 500;  // thousandths of a CPU: who wants less is idle
inline constexpr std::int64_t kWaitsLessLeast = 200;  // thousandths of the time, of a suspicion

// Nothing: no step that runs has two ranks of which one was told. `since` is left to the caller.
std::optional<StragglersView> FindStragglers(const std::vector<PacedRank>& ranks);

// What is wrong, for a warning: those that are not only suspected. "": nothing.
std::string StragglerWarning(const StragglersView& stragglers);

}  // namespace muster::core
