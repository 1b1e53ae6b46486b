#pragma once

// Which node, step and rank of a running job a command enters (`muster exec`, `muster connect`).
//
// Pure. Invariant: what is returned is named by the job's own views; a choice that they do not
// settle is refused in one line that says what to name.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/joined_rank.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// What the command line names; each may be left out.
struct WantedPlace {
  std::optional<StepId> step = {};
  std::optional<std::uint32_t> rank = {};
  std::string node = {};
  std::string verb = "exec";  // that says no
};

struct JoinedPlace {
  std::string node;
  JoinedRank joined;
  friend bool operator==(const JoinedPlace&, const JoinedPlace&) = default;
};

absl::StatusOr<JoinedPlace> FindPlace(const JobDetail& job, const WantedPlace& wanted);

}  // namespace muster::cli
