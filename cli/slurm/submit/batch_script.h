#pragma once

// The script of sbatch: a file, standard input, or a command to wrap.
//
// Thread promise: reads files, changes nothing. Invariant: an error is Slurm's line, "error: Unable
// to open file x".

#include <string>

#include "absl/status/statusor.h"
#include "cli/request/request.h"

namespace muster::cli::slurm {

// `path` "": standard input.
absl::StatusOr<Script> ReadBatchScript(const std::string& path);
absl::StatusOr<Script> WrapBatchCommand(const std::string& command);

}  // namespace muster::cli::slurm
