#pragma once

// `--timeline FILE` of a kernel: each run of each operation as a phase.
//
// Thread promise: as PhaseMarker's. Invariant: without a path nothing is marked and operations run
// as they are.

#include <string>

#include "agent/kernels/harness/command_line.h"
#include "agent/kernels/harness/phase_marker.h"

namespace muster::kernels {

// Adds --timeline.
void AddTimelineOption(CommandLine* line, std::string* path);

// What is wrong with the path; "" when nothing is.
std::string TimelineProblem(const PhaseMarker& marker, const std::string& path);

}  // namespace muster::kernels
