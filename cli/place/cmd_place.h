#pragma once

// muster place: where a job would go on captured machines, before anything is submitted.
//
// Thread promise: the main thread's.

#include "cli/frame/verb.h"

namespace muster {

Verb PlaceVerb();

}  // namespace muster
