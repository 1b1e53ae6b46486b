#pragma once

// muster completion: prints a shell's completion script.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb CompletionVerb();

}  // namespace muster
