#pragma once

// Commands aimed at what a state holds: what its agents and its users could say of the very jobs,
// steps and nodes that are there.
//
// Thread promise: pure but for the sequence. Invariant: the same sequence and state give the same
// command.

#include <vector>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/value/time.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// What the nodes of the job say in a row, each once: that it began there, that its part is frozen,
// or that nothing of it is left. REQUIRES: it has an attempt.
std::vector<Command> ReportsOfAll(const Job& job, Time now, RandomSequence& random);
// What agents say: registrations, reports, lost streams, launches that failed.
Command DrawNews(const core::ClusterState& state, Time now, RandomSequence& random);
// What users ask, of jobs that run mostly.
Command DrawAsked(const core::ClusterState& state, Time now, RandomSequence& random);
// A step of the job. REQUIRES: it has an attempt.
Command DrawStart(const core::ClusterState& state, const Job& job, RandomSequence& random);
// A job of a user who knows which others there are.
Command DrawSubmission(const core::ClusterState& state, Time now, RandomSequence& random);
// One that has an attempt, the first of them half of the time; null where there is none.
const Job* DrawHolder(const core::ClusterState& state, RandomSequence& random);
// Any; the first of them half of the time; null where there is none.
const Job* DrawJob(const core::ClusterState& state, RandomSequence& random);
const Node* DrawNode(const core::ClusterState& state, RandomSequence& random);

}  // namespace muster::sim
