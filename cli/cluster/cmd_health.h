#pragma once

// muster health: what is known of the nodes' health, and checks on request.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb HealthVerb();

}  // namespace muster
