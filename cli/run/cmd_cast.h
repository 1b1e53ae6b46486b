#pragma once

// muster cast: copies a file to the nodes of a job.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb CastVerb();

}  // namespace muster
