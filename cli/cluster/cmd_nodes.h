#pragma once

// muster nodes: the nodes and what is taken of them.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb NodesVerb();

}  // namespace muster
