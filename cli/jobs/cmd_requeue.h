#pragma once

// muster requeue: ends the attempts of batch jobs and sends them back to the queue.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb RequeueVerb();

}  // namespace muster
