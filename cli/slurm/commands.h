#pragma once

// The table of Slurm's commands, and the choice among them.
//
// Thread promise: the main thread's. Invariant: the names are those that `muster slurm install`
// links, in its order.

#include <span>
#include <string>
#include <vector>

#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

// `run` is null where this version lacks the command.
std::span<const Command> AllCommands();

// Runs the command that `words` ask for, by the name of the program's file or, where that is
// muster-slurm, by the first argument; the exit code.
int RunSlurmCommand(const Environment& environment, const std::vector<std::string>& words,
                    std::ostream& out, std::ostream& err);

}  // namespace muster::cli::slurm
