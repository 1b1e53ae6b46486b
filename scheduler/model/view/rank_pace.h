#pragma once

// How fast a rank's processes have been of late, as its node says.
//
// Made by the agent over about a minute, judged beside the rank's peers (core/explain/stragglers).
// Invariant: what could not be read is not there, and never 0.

#include <cstdint>
#include <optional>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct RankPace {
  StepId step;
  std::uint32_t rank = 0;
  Duration span{0};         // that was looked at
  std::uint32_t looks = 0;  // each covers a part of the span
  // CPUs that its threads wanted, in thousandths: those that they ran on, and those that they
  // waited for because others ran there.
  std::optional<std::uint32_t> wanted;
  std::optional<std::uint32_t> granted;   // of that, in thousandths: the median, by time
  std::optional<std::uint32_t> stolen;    // of its CPUs' time, by the machine's host; the same
  std::optional<std::uint32_t> cpu_mhz;   // of the CPU of its busiest thread; the median, by time
  std::optional<std::uint64_t> progress;  // what it said of its steps: how many in 1,000,000 s
  static constexpr auto Fields(auto list) {
    return list(Field{"step", &RankPace::step}, Field{"rank", &RankPace::rank},
                Field{"span", &RankPace::span}, Field{"looks", &RankPace::looks},
                Field{"wanted", &RankPace::wanted}, Field{"granted", &RankPace::granted},
                Field{"stolen", &RankPace::stolen}, Field{"cpu_mhz", &RankPace::cpu_mhz},
                Field{"progress", &RankPace::progress});
  }
  friend bool operator==(const RankPace&, const RankPace&) = default;
};

}  // namespace muster
