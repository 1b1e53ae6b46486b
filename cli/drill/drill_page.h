#pragma once

// What a drill found, as a page and as a document.
//
// Pure. Invariant: both say the same.

#include <string>

#include "cli/drill/drill_verdict.h"
#include "cli/frame/json_output.h"
#include "cli/page/style.h"

namespace muster::cli {

std::string DrillPage(const DrillFacts& facts, const DrillVerdict& verdict, const Style& style);
Json DrillDocument(const DrillFacts& facts, const DrillVerdict& verdict);

}  // namespace muster::cli
