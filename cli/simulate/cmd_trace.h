#pragma once

// muster trace info: what a workload trace holds.
//
// Thread promise: verbs run on the main thread.

#include "cli/frame/verb.h"

namespace muster {

Verb TraceVerb();

}  // namespace muster
