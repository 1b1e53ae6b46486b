#pragma once

// muster history: the jobs that have ended.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb HistoryVerb();

}  // namespace muster
