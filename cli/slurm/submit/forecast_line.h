#pragma once

// What --test-only says.
//
// Thread promise: writes to the call's stderr, where Slurm's commands say it. Invariant: the words
// "partition NAME" are in it, which tools look for.

#include "cli/controller/connection.h"
#include "cli/request/job_request.h"
#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

inline constexpr const char* kNeverFits = "Requested node configuration is not available";

// 0, or 1 when it never would start.
int TellForecast(const Call& call, const StartForecast& forecast, const JobRequest& request);

}  // namespace muster::cli::slurm
