#pragma once

// muster run: runs a command on allocated resources and shows its output.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb RunVerb();

}  // namespace muster
