#pragma once

// muster kernel: the bundled kernels: listed, run, scaled.
//
// Thread promise: the main thread. Invariant: what is not ours on the command line goes to the
// kernel untouched, in its order.

#include "cli/frame/verb.h"

namespace muster {

Verb KernelVerb();

}  // namespace muster
