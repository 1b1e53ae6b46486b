#pragma once

// What a source names, it includes: by itself, or through the headers of ours that it includes.
//
// The release build reads a room as one source, so what one file includes serves the next, and a
// missing include shows only in the dev build. This finds it in the text: names of the standard
// library by a table of their headers, and our own types by where they are defined. Invariant: a
// name that is defined or declared anywhere among a source's includes is never a finding.

#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

// Names of the standard library whose header neither the source nor a header of ours that it
// reaches includes.
std::vector<Finding> CheckStandardNames(const std::vector<Source>& tree);

// Types that one header of the tree defines at the level of a namespace, named by a source that
// does not reach that header.
std::vector<Finding> CheckTypesAreReached(const std::vector<Source>& tree);

}  // namespace muster::tidy
