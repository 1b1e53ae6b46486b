#pragma once

// Many nodes, one line each: what nodes prints.
//
// Pure. Invariants: nodes keep the order in which they came; a node whose binding is recorded and
// not enforced says so in its line.

#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

std::string PrintNodes(const std::vector<NodeView>& nodes, bool header, const Style& style);

// Green for room, yellow for none, red for out of service.
Paint NodePaint(const std::string& state);

// The largest jobs of GPUs that would start now, by model; empty when there are no GPUs.
std::string PrintLargest(const std::vector<LargestGpuJob>& largest, bool header,
                         const Style& style);

// The narrow links; empty when there are none.
std::string PrintNarrowLinks(const std::vector<NarrowLink>& links, bool header, const Style& style);

}  // namespace muster::cli
