#pragma once

// A manual page in mdoc: a verb's own data, with what its source says besides.
//
// Name, synopsis, options, examples and exit codes are the verb's; a section of the source stands
// in place of what the verb says of the same, examples after its own. Invariants: every shown
// option stands in the page once, in the verb's order; the pages that are named are listed at the
// end.

#include <string>
#include <vector>

#include "cli/frame/verb.h"
#include "cli/manual/page_source.h"

namespace muster::cli {

// muster-VERB(1).
std::string ManualPage(const Verb& verb, const PageSource& source);

// muster(1): all shown verbs, and the options that each of them has.
std::string OverviewPage(const std::vector<Verb>& verbs, const PageSource& source);

}  // namespace muster::cli
