#pragma once

// Is a schedule legal? Judged from its table alone, with nothing of the scheduler's code.
//
// For each job: it started no earlier than it came, ended when its run time was over and no later
// than it had asked for, had as many processors as it asked for, all of the machine's, and started
// no later than it had been promised. For the machine: no processor ran two jobs at once, where a
// job holds its processors in [start, end). Attempts of a job that failures or preemption ended are
// judged like it, and none begins before the one before is over.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace muster::sim {

struct AuditReport {
  std::uint64_t jobs = 0;
  std::uint64_t promises = 0;  // jobs that had been promised a start
  std::uint64_t restarts = 0;  // attempts that were ended before the one that ended the job
  std::uint64_t violations = 0;
  std::string first;             // the first violation, as a sentence; empty when legal
  std::int64_t most_in_use = 0;  // processors, at any moment
  bool partial = false;          // the table says of itself that it is not complete
};

// An error only when the table cannot be read.
absl::StatusOr<AuditReport> AuditSchedule(const std::string& table, std::int64_t processors);

}  // namespace muster::sim
