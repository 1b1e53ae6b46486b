#pragma once

// muster keys: the certificates by which a cluster's controller, agents and clients know one
// another.
//
// Thread promise: as every verb's, the main thread. Invariant: asks no controller.

#include "cli/frame/verb.h"

namespace muster {

Verb KeysVerb();

}  // namespace muster
