#pragma once

// The lines of slurm.conf(5) as Muster's settings.
//
// Invariants: every key of every line becomes a setting, words for agents, or a remark that says
// why not; what a machine tells of itself needs neither.

#include <vector>

#include "cli/moving/conf_lines.h"
#include "cli/moving/moved_settings.h"

namespace muster::cli {

void ImportSettings(const std::vector<ConfLine>& lines, MovedSettings* settings);

}  // namespace muster::cli
