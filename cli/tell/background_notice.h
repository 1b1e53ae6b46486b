#pragma once

// A process of ours that waits in the background until a job has ended, and tells a terminal or the
// desktop.
//
// Invariants: it belongs to the user and to no session, so that neither Ctrl-C nor the shell's end
// reaches it; it ends with its terminal, and says nothing but that line.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/frame/verb.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// The option of `muster tell` that makes it that process.
inline constexpr const char* kWaits = "waits";

// The option of `muster tell` for the desktop.
inline constexpr const char* kDesktop = "desktop";

// Starts it for a job, a number or an element like "12_3". `terminal` was checked; -1: the desktop.
absl::Status StartNotice(const Invocation& invocation, const std::string& job, int terminal);

// Is it: its standard output is the terminal, if it is for one.
absl::StatusOr<int> RunNotice(const Invocation& invocation, const std::string& job);

// The job, or all elements of an array or components, in order. Refused: it is another user's.
absl::StatusOr<std::vector<JobId>> FindJobsToTell(Connection& connection, const std::string& job);
// Those of the job's details. NotFound: there are none. FailedPrecondition: all have ended.
absl::StatusOr<std::vector<JobId>> JobsToTell(const std::string& job,
                                              const std::vector<JobDetail>& details);

}  // namespace muster::cli
