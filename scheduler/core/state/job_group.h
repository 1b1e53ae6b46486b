#pragma once

// Heterogeneous jobs: components with ids one after the other that start together and end together.
//
// A plain job is a group of itself; with them, how every request about a job finds what it means.
// Invariants: between two transitions (1) all components of a group are in the state or none; (2)
// all hold resources, since the same moment, or none; BrokenGroup says which is not so.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/plan/plan.h"

namespace muster::core {

// The components of the job's group, the leader first; a plain job alone.
std::vector<const Job*> GroupOf(const ClusterState& state, const Job& job);

// The number of the attempt that a start now would be: one for the whole group.
AttemptNumber NextAttempt(const ClusterState& state, const Job& job);

// "12", or "12_3" for an element.
std::string Label(JobId job, std::optional<std::uint32_t> array_index);
// The refusal of a request for a job that is not in the state.
absl::Status NoSuchJob(JobId job, std::optional<std::uint32_t> array_index);
// The jobs that a request for a whole job means: one, an array's elements, a group's components.
// NotFound when there is none.
absl::StatusOr<std::vector<const Job*>> FindWhole(const ClusterState& state, JobId job,
                                                  std::optional<std::uint32_t> array_index);

// Refuses a request that names one component where the whole is meant. REQUIRES: `job` was found by
// `named`.
absl::Status NamesWhole(const Job& job, JobId named);

// "12+1", or "12" for a plain job.
std::string LabelOf(const Job& job);

// How many of the starts, from the first on, are of one group: 1 for a plain job.
std::size_t StartsTogether(const ClusterState& state, std::span<const PlannedStart> starts);
// Whether they are all of the group's components, in order.
bool IsWholeGroup(const ClusterState& state, std::span<const PlannedStart> starts);

// What is broken of the invariants above.
std::optional<std::string> BrokenGroup(const ClusterState& state);

}  // namespace muster::core
