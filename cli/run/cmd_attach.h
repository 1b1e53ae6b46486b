#pragma once

// muster attach: shows a running step.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb AttachVerb();

}  // namespace muster
