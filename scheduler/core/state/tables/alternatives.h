#pragma once

// Which of a job's requests it got: alternatives, and jobs that take as many nodes as they can.
//
// While a job waits its spec says what it asks first; while an attempt holds resources it says what
// that attempt got, so that limits, orders and views need not ask. Invariants:
// AsAsked(AsChosen(spec, …)) == spec for a spec that waits.

#include <cstdint>

#include "scheduler/model/job/job_spec.h"

namespace muster::core {

// How many requests the job may start by: 1 without alternatives.
std::uint32_t AlternativesOf(const JobSpec& spec);

// The spec as it is when the job starts by that alternative, on `tasks` tasks (0: as asked).
// REQUIRES: alternative < AlternativesOf(spec).
JobSpec AsChosen(const JobSpec& spec, std::uint32_t alternative, std::uint32_t tasks);

// The spec as it was while the job waited.
JobSpec AsAsked(const JobSpec& spec);

// Whether the two differ from the spec for any choice.
bool HasChoice(const JobSpec& spec);

// The tasks on each node of a request that is as wide as fits.
std::uint32_t TasksOnEach(const ResourceRequest& request);

}  // namespace muster::core
