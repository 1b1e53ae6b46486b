#pragma once

// Why a job waits, why it runs where it does, or how it ended: what explain prints.
//
// Pure. Invariants: the summary comes first, in one line; every node that the controller judged has
// a line.

#include <string>

#include "cli/page/style.h"
#include "cli/page/tree.h"
#include "scheduler/model/view/explanation.h"

namespace muster::cli {

std::string PrintExplanation(const JobExplanation& explanation, Time now, const Style& style);

// One node of the binding map: its ranks, and of each its cores, memory nodes and GPUs. `why` says
// why the node was chosen, or nothing.
Tree BindingTree(const NodeAllocation& node, const std::string& why);

}  // namespace muster::cli
