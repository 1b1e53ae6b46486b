#pragma once

// muster simulate: a trace under a policy, without a cluster.
//
// Thread promise: verbs run on the main thread.

#include "cli/frame/verb.h"

namespace muster {

Verb SimulateVerb();

}  // namespace muster
