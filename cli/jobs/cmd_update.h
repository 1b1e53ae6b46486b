#pragma once

// muster update: changes what waiting jobs ask for.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb UpdateVerb();

}  // namespace muster
