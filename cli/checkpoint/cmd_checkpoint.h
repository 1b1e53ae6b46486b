#pragma once

// muster checkpoint: how often to checkpoint; the checkpoints of a directory.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb CheckpointVerb();

}  // namespace muster
