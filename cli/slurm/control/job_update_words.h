#pragma once

// What `scontrol update job` says, as the options that a job is changed by.
//
// Pure. Invariant: a key that is not known here is an error with Slurm's words, never passed over.

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/slurm/control/key_values.h"

namespace muster::cli::slurm {

struct JobUpdateWords {
  std::map<std::string, std::string> values;  // by option, as cli/request/job_changes reads them
  std::string moved_limit;                    // "+30", "-30": minutes to the limit that a job has
  std::string end;                            // EndTime: of a running job, by which its limit ends
  std::string cpus;                           // NumCPUs: of all its tasks
  std::optional<bool> held;                   // Priority=0 holds, another lets go
};

// REQUIRES: `pairs` names a job; its own key is passed over.
absl::StatusOr<JobUpdateWords> ReadJobUpdateWords(const KeyValues& pairs);

}  // namespace muster::cli::slurm
