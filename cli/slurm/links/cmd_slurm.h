#pragma once

// `muster slurm install DIR`: makes the links by which Slurm's commands are found.
//
// Thread promise: the main thread's. Invariant: asks no controller.

#include "cli/frame/verb.h"

namespace muster {

Verb SlurmVerb();

}  // namespace muster
