#pragma once

// srun --bcast: the program is copied to the nodes before the step runs it there.
//
// Thread promise: the main thread's. Invariant: nothing runs where the copy failed.

#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "cli/slurm/frame/words.h"

namespace muster::cli::slurm {

// Where the copy of `program` is to be: the destination, a name of its own in a directory that ends
// with "/", or one in the working directory when nothing is said.
std::string BroadcastPath(const std::string& destination, const std::string& program,
                          const std::string& job);

// Copies the step's program to the job's nodes and has the step run the copy. REQUIRES: inside a
// job, with a command.
absl::Status BroadcastProgram(const Environment& environment, Words& words);

}  // namespace muster::cli::slurm
