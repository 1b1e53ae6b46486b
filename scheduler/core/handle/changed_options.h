#pragma once

// What an update may change of a job besides its times, name and dependency, option by option.
//
// A job is kept as it was normalised; an option that is changed has what followed from its old
// value follow from its new one. Invariants: nothing but what the options name, and what follows
// from them, changes; the answer still has to be normalised and admitted.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// Takes the options that `changes` names from what it asks into the spec.
absl::Status TakeOptions(const JobUpdate& changes, const Actor& by, const SchedulerConfig& config,
                         JobSpec& spec);

// Whether one of the options says where the job is counted: its partition, account, QOS or
// reservation.
bool ChangesPolicy(const JobUpdate& changes);

// Whether a job that has started can still take all of the options.
bool AreForRunning(const std::vector<std::string>& options);

}  // namespace muster::core
