#pragma once

// muster suspend: takes running jobs off their cores until they are resumed.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb SuspendVerb();

}  // namespace muster
