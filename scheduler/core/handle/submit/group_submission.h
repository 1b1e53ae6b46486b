#pragma once

// The submission of a heterogeneous job: all of its components are accepted or none.
//
// Invariants: (1) each component is a job of its own, checked and filled in as one; (2) what
// concerns the whole (begin, deadline, dependency, hold, nice, requeue) is the first component's;
// (3) limits on submissions count all of them.

#include "absl/status/statusor.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

inline constexpr std::size_t kComponentsMax = 128;

// The event, or the first refusal, which names the component. REQUIRES: there are components.
absl::StatusOr<JobSubmitted> AcceptGroup(const ClusterState& state, const SubmitJob& command,
                                         Time now, const SchedulerConfig& config);

}  // namespace muster::core
