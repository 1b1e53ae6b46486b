#pragma once

// muster explain: why a job waits, why it runs where it does, or how it ended.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb ExplainVerb();

}  // namespace muster
