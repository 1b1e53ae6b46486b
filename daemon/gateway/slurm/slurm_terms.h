#pragma once

// The fields of a submission that say when a job may run, after what, how it is warned, and who is
// told.
//
// In the words of Slurm's options, which the readers of the command line read. Pure. Invariant: a
// refused field leaves an error that names it.

#include "daemon/gateway/slurm/slurm_fields.h"

namespace muster::daemon::slurm {

void AddTerms(FieldTable& table);
// "END,TIME_LIMIT_90" as slurmrestd's names of those kinds of mail: "END", "TIME=90%".
std::vector<std::string> MailWords(const std::string& types);
// What only makes sense beside another field.
absl::Status CheckTogether(const SubmitJob& job);

}  // namespace muster::daemon::slurm
