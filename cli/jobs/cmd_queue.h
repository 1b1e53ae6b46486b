#pragma once

// muster queue: the jobs that wait or run.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb QueueVerb();

}  // namespace muster
