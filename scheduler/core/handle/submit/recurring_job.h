#pragma once

// Jobs that run again and again, at moments that a calendar names (--every).
//
// One job, whose runs are its attempts: when one ends, however it does, the job waits for the next
// moment after that, so that runs never overlap and moments that passed meanwhile are left out.
// Cancelling it ends it. Pure. Invariant: a job waits for one moment at a time, as its `begin`.

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// Checks JobSpec::every, and has the job begin at its first moment after `now` and after its own
// `begin`. A job that runs once is as it was.
absl::Status FillRecurring(Time now, JobSpec& spec);

// The first moment after `now`; kNoTime when there is none, and for a job that runs once.
Time NextMoment(const JobSpec& spec, Time now);

}  // namespace muster::core
