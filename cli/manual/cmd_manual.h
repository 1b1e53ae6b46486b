#pragma once

// muster manual: writes the manual pages; the build calls it, and help does not list it.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb ManualVerb();

}  // namespace muster
