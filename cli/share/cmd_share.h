#pragma once

// muster share: who has which part of the cluster, and who used it.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb ShareVerb();

}  // namespace muster
