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

// `parts`: what to look at where most links of one end are slow.
std::string PrintLinks(const std::vector<LinkNode>& nodes, const LinkReport& report,
                       const Style& style, const char* parts = "NIC, its cable and its port");
Json LinksDocument(const std::vector<LinkNode>& nodes, const std::vector<MeasuredLink>& links,
                   const LinkReport& report);

}  // namespace muster::cli
