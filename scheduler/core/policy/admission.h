#pragma once

// Admission: what policy makes of a submission, before it is taken.
//
// Fills in what was left open (partition, account, QOS, time limit) and refuses what may not be.
// Invariants: with an empty policy nothing changes and nothing is refused that names no policy; an
// error is one line that names the option.

#include <cstdint>

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/policy/policy_snapshot.h"

namespace muster::core {

// The spec's time limit is the submitter's own (true), or the scheduler's default (false).
struct Submission {
  std::uint64_t count = 1;
  bool time_said = false;
  Time now = kNoTime;
};

// REQUIRES: the spec went through Normalise. NotFound, PermissionDenied, FailedPrecondition or
// ResourceExhausted say why it is refused.
absl::Status Admit(const PolicySnapshot& policy, const Submission& submission, JobSpec* spec);

}  // namespace muster::core
