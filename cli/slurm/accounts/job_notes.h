#pragma once

// `sacctmgr modify job where jobid=7 set AdminComment=…`: texts about jobs, whether or not they
// have ended.
//
// Thread promise: the main thread's. Invariants: nothing is changed before it was agreed to;
// returns the exit code.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/slurm/accounts/account_change.h"
#include "scheduler/model/job/job_selector.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

struct JobNotes {
  std::vector<JobSelector> jobs;
  std::string clusters;  // "a,b"; empty: this one
  std::vector<JobNote> notes;
};

// `words` follow "job". InvalidArgument: lines for stderr, as Slurm writes them.
absl::StatusOr<JobNotes> ReadJobNotes(const std::vector<std::string>& words);

int ChangeJobNotes(const Call& call, const std::vector<std::string>& words,
                   const ManagerManner& manner);

}  // namespace muster::cli::slurm
