#pragma once

// muster resume: lets suspended jobs run again, or puts drained nodes back into service.
//
// The verb's options, help and action; see verb.h for the frame. Thread promise: runs on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb ResumeVerb();

}  // namespace muster
