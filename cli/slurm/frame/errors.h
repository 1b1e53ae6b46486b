#pragma once

// Errors as Slurm's commands write them, and what Slurm calls what the controller refused.
//
// Tools look for these texts. Thread promise: SlurmText is pure; the others write to the call's
// streams. Invariant: an error is one line.

#include <string>

#include "absl/status/status.h"
#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

// Slurm's words for `status`: "Invalid job id specified". Where it has none, the status's own.
std::string SlurmText(const absl::Status& status);

// "COMMAND: error: TEXT" on stderr; returns 1.
int Fail(const Call& call, const std::string& text);
// "COMMAND: TEXT" on stderr, of what goes on all the same; nothing for an empty text.
void Warn(const Call& call, const std::string& text);
// "TEXT" on stderr, as it is, for what has another beginning: "slurm_load_jobs error: …".
int FailPlainly(const Call& call, const std::string& text);
// The same of an error that Slurm writes in several lines.
int FailLines(const Call& call, const std::string& lines);
// `lines` with all but their ends printable.
std::string HarmlessLines(const std::string& lines);

}  // namespace muster::cli::slurm
