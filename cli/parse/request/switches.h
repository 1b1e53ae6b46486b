#pragma once

// How few leaf switches a job asks for, and how long it waits for them: "2", "1@30", "2@1:00:00".
//
// The form is Slurm's. Pure; errors as in number.h. Invariants: an accepted count is at least one.

#include <chrono>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// Slurm's max_switch_wait, unless its administrator says otherwise.
inline constexpr Duration kSwitchesWait = std::chrono::minutes(5);

struct SwitchLimit {
  std::uint32_t count = 0;
  Duration wait = kSwitchesWait;
  friend bool operator==(const SwitchLimit&, const SwitchLimit&) = default;
};

// N or N@TIME, with a time as in time_limit.h.
absl::StatusOr<SwitchLimit> ParseSwitches(std::string_view text);

}  // namespace muster::cli
