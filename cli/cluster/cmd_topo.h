#pragma once

// muster topo: the nodes as trees, and who holds what.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb TopoVerb();

}  // namespace muster
