#pragma once

// srun's scripts: those around each task, on its node, and those around the step, here.
//
// A task's prolog may print `export NAME=VALUE`, `unset NAME` and `print TEXT`, which hold for the
// task (srun(1)). Thread promise: AroundTask is pure; RunHere waits for its program. Invariant:
// neither script's exit code counts.

#include <string>
#include <vector>

#include "cli/frame/environment.h"

namespace muster::cli::slurm {

// The command that runs `command` between the two programs; "": none.
std::vector<std::string> AroundTask(const std::string& prolog, const std::string& epilog,
                                    const std::vector<std::string>& command);

// Runs a program with our streams, and waits for it. False when it cannot be started.
bool RunHere(const std::string& program, const Environment& environment);

}  // namespace muster::cli::slurm
