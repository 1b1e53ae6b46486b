#pragma once

// Model <-> wire: snapshots and replay bundles. The machines of a snapshot travel once each,
// whoever has them.
//
// Invariants: see converted.h; a node names a machine that is there.

#include "absl/status/status.h"
#include "proto/convert/converted.h"
#include "proto/snapshot.pb.h"
#include "scheduler/model/plan/replay_bundle.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster {

MUSTER_CONVERTED(Snapshot)
MUSTER_CONVERTED(ReplayBundle)

}  // namespace muster
