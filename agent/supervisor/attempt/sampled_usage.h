#pragma once

// What the agent sampled of an attempt's use of this node, in a file of the attempt's directory:
// whole numbers on a line, in the units of Usage, and "-" for what nobody could tell; then a line
// for each file system.
//
// Invariant: a reader sees one sample whole; a file that is not there, or not one of these, is
// nothing sampled.

#include <string>

#include "scheduler/model/job/exit_status.h"

namespace muster::agent {

Usage ReadSampledUsage(const std::string& path);

// A sample that cannot be written is lost; the next one has it too.
void WriteSampledUsage(const std::string& path, const Usage& usage);

// Adds to what the supervisor knows of its processes what only the agent could see.
void AddSampled(const Usage& sampled, Usage& usage);

}  // namespace muster::agent
