#pragma once

// A machine that was captured or described, for an agent to play.
//
// Such a machine is never enforced: placements on it are real decisions, bindings are recorded
// only. Thread promise: as hwloc_topology.h. Invariant: what comes out passes CheckMachine, has
// `enforced` false, and says why.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/machine.h"

namespace muster::topology {

// `source` is a file (when one of that name exists, or the name ends in .xml or holds a slash):
// hwloc XML (schema 1, 2 or 3), NCCL's topology XML or the table of `nvidia-smi topo -m`; or else
// hwloc's synthetic description, "pack:2 numa:2 core:4 pu:2", in which a missing last level of
// threads is one per core. "MACHINE+TABLE" joins the links of a `topo -m` file to a machine. Errors
// name the source (and the line, where there is one) and what is wrong.
absl::StatusOr<Machine> ReadCapturedMachine(const std::string& source);

}  // namespace muster::topology
