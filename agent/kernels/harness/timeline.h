#pragma once

// `--timeline FILE` of a kernel: each run of each operation as a phase.
//
// Thread promise: as PhaseMarker's. Invariant: without a path nothing is marked and operations run
// as they are.

#include <string>
#include <vector>

#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/phase_marker.h"

namespace muster::kernels {

// Adds --timeline.
void AddTimelineOption(CommandLine* line, std::string* path);

// The same operations, each run marked by its name. The marker outlives them.
std::vector<Operation> Marked(const std::vector<Operation>& operations, PhaseMarker* marker);

// What is wrong with the path; "" when nothing is.
std::string TimelineProblem(const PhaseMarker& marker, const std::string& path);

}  // namespace muster::kernels
