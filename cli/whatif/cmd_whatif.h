#pragma once

// muster whatif: the same arrivals under changed settings, and who gains and who loses.
//
// Thread promise: verbs run on the main thread.

#include "cli/frame/verb.h"

namespace muster {

Verb WhatifVerb();

}  // namespace muster
