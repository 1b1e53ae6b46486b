#pragma once

// muster estimate: what a training run takes of each GPU, where it fits, how long its gradients
// travel.
//
// The verb's help and action; see verb.h for the frame. Thread promise: runs on the main thread.

#include "cli/frame/verb.h"

namespace muster {

Verb EstimateVerb();

}  // namespace muster
