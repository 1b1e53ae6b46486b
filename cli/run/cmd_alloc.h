#pragma once

// muster alloc: holds an allocation while a command runs here.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb AllocVerb();

}  // namespace muster
