#pragma once

// Model <-> wire: nodes as their agents introduce them.
//
// Invariants: see converted.h.

#include "absl/status/status.h"
#include "proto/convert/converted.h"
#include "proto/node.pb.h"
#include "scheduler/model/machine/node.h"

namespace muster {

MUSTER_CONVERTED(Registration)

}  // namespace muster
