#pragma once

// What `muster health --links` prints.
//
// Pure.

#include <string>
#include <vector>

#include "cli/frame/json_output.h"
#include "cli/links/link_verdict.h"
#include "cli/page/style.h"

namespace muster::cli {

std::string PrintLinks(const std::vector<LinkNode>& nodes, const LinkReport& report,
                       const Style& style);
Json LinksDocument(const std::vector<LinkNode>& nodes, const std::vector<MeasuredLink>& links,
                   const LinkReport& report);

}  // namespace muster::cli
