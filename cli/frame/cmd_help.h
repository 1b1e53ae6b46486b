#pragma once

// muster help: explains muster or one verb.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb HelpVerb();

}  // namespace muster
