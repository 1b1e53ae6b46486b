#pragma once

// The words that text in this tree does without, because a reader has to stop at them: each has a
// plain one in its place.
//
// Text that users see has the longer list: string literals of the product, manual pages, the
// example configuration, the gateway's page, READMEs, CONTRIBUTING, SECURITY and the change log.
// Comments of code have the shorter one. A word in quotes or backquotes, or in a path, is a name
// and may stand.

#include <vector>

#include "tests/tidy/source.h"

namespace muster::tidy {

std::vector<Finding> CheckWords(const Source& source);

}  // namespace muster::tidy
