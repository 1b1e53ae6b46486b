#pragma once

// A session from its user's machine: waits for the job, and opens the way into it.
//
// Thread promise: the main thread's. Invariants: Ctrl-C while the job waits takes it back; later it
// ends the way alone, and the session goes on.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/frame/verb.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

// Until the job runs. `signals`: of BlockSignals. Cancelled: a signal came, and the job was taken
// back if `takes_back`. FailedPrecondition: it has ended.
absl::Status AwaitStart(Connection& connection, JobId job, const UniqueFd& signals,
                        bool takes_back);

// Opens a shell in the session, or forwards `local_port` (0: any) to its server and prints the URL,
// until that ends; the exit code.
absl::StatusOr<int> VisitSession(const Invocation& invocation, Connection& connection, JobId job,
                                 std::uint16_t local_port, const UniqueFd& signals);

}  // namespace muster::cli
