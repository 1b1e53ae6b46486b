#pragma once

// Model <-> wire: nodes as their agents introduce them, and checks of their health.
//
// Invariants: see converted.h.

#include "absl/status/status.h"
#include "proto/convert/converted.h"
#include "proto/health.pb.h"
#include "proto/machine.pb.h"
#include "proto/node.pb.h"
#include "scheduler/model/machine/gpu_occupant.h"
#include "scheduler/model/machine/gpu_pace.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/model/machine/node.h"

namespace muster {

MUSTER_CONVERTED(GpuOccupant)
MUSTER_CONVERTED(GpuPace)
MUSTER_CONVERTED(HealthOrder)
MUSTER_CONVERTED(HealthReport)
MUSTER_CONVERTED(LayoutOrder)
MUSTER_CONVERTED(Registration)

}  // namespace muster
