#pragma once

// muster release: lets held jobs start.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb ReleaseVerb();

}  // namespace muster
