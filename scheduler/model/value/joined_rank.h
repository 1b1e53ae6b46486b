#pragma once

// What a command that enters a running job (`muster exec`) has of it: the job's environment, and
// the whole of its part of a node, or a rank's cores, devices and environment.
//
// It travels as a variable of the program's environment, which no process ever has: only the job's
// supervisor, which has the environments, can put them in its place. Pure. Invariant: what
// ToVariable writes FindJoined reads back.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/ids.h"

namespace muster {

struct JoinedRank {
  std::optional<StepId> step = {};  // unset: the whole job
  std::uint32_t rank = 0;
  friend bool operator==(const JoinedRank&, const JoinedRank&) = default;
};

// "MUSTER_EXEC_JOINS=2.5"; of the whole job "MUSTER_EXEC_JOINS=job".
std::string ToVariable(const JoinedRank& joined);

// Nothing: the program has an environment of its own.
std::optional<JoinedRank> FindJoined(const std::vector<std::string>& environment);

}  // namespace muster
