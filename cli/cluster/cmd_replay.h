#pragma once

// muster replay: what a controller decided, decided again from its own records.
//
// Thread promise: verbs run on the main thread.

#include "cli/frame/verb.h"

namespace muster {

Verb ReplayVerb();

}  // namespace muster
