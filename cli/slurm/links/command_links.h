#pragma once

// The links by which Slurm's commands are called: NAME -> muster-slurm.
//
// Thread promise: one owner of the directory. Invariants: a link is replaced as a whole, so that a
// command that starts meanwhile finds one; nothing but a link of ours is replaced.

#include <span>
#include <string>

#include "absl/status/status.h"

namespace muster::cli::slurm {

// The names of all commands, in the order of the table of `muster-slurm`.
std::span<const char* const> CommandNames();

// Makes the links in `directory`, which is made if it is not there, to the file `program`.
absl::Status LinkCommands(const std::string& program, const std::string& directory);

}  // namespace muster::cli::slurm
