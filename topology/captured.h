#pragma once

// A machine that somebody captured or described, for an agent to play.
//
// Such a machine is never enforced: placements on it are real decisions, bindings are recorded
// only. Thread promise: as hwloc_topology.h. Invariant: what comes out passes CheckMachine, has
// `enforced` false, and says why.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/machine.h"

namespace muster {

// `source` is an hwloc XML file (schema 1, 2 or 3; when a file of that name exists, or the name
// ends in .xml or holds a slash) or else hwloc's synthetic description, "pack:2 numa:2 core:4
// pu:2"; a missing last level of threads is one per core. Errors name the source and what is wrong.
absl::StatusOr<Machine> ReadCapturedMachine(const std::string& source);

}  // namespace muster
