#pragma once

// One event in one line for people.
//
// Pure. Invariant: what others wrote passes Printable.

#include <string>

#include "cli/page/style.h"

namespace muster::cli {

// "14:03:07  job 7 train (ada)  ended: FAILED, exit code 3\n" from its CloudEvents JSON; the text
// itself where it is none.
std::string EventText(const std::string& json, const Style& style);

}  // namespace muster::cli
