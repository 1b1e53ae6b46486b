#pragma once

// Which ranks of a job are slower than their peers, as lines of a sheet.
//
// Pure. Invariant: what was not judged is named with the reason; no silence stands for it.

#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/model/view/stragglers.h"

namespace muster::cli {

// "rank 3 on n2: GPU clock 1395 MHz, 30 % below …; since 12:01:00" for each that was found.
std::vector<std::string> StragglerLines(const StragglersView& stragglers, const Style& style);

// "none of 8 ranks over the last minute, by GPU clock, CPU time"; "cannot tell: …".
std::string PeersText(const StragglersView& stragglers);
// What it was not judged by, and why; "": by all.
std::string UnjudgedText(const StragglersView& stragglers);

}  // namespace muster::cli
