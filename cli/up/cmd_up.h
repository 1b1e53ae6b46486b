#pragma once

// muster up: runs a personal cluster in the foreground.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb UpVerb();

}  // namespace muster
