#pragma once

// Whether a node can run a program that a user submits, of a job or of a step, also once its paths
// were changed.
//
// Called for each submission, whatever the client has checked before. Invariants: (1) what is
// accepted is no larger than an order may be (model/job/order_limits); (2) errors say what is wrong
// and the mend.

#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"

namespace muster {

// InvalidArgument when no node could run the program: a batch job needs a script that begins with
// "#!", the others a command; no part of it holds a NUL byte; and each entry of its environment is
// NAME=value with a name of its own; where it is watched, that address and token are such
// (model/job/step_io).
absl::Status CheckProgram(JobKind kind, const Program& program);

// InvalidArgument for an option that no changed path has, or a path that is none.
absl::Status CheckPaths(const std::vector<ChangedPath>& paths);
// The paths in the place of the program's own.
void SetPaths(const std::vector<ChangedPath>& paths, Program& program);

}  // namespace muster
