#pragma once

// Model <-> wire: orders to agents and supervisors.
//
// Invariants: see converted.h.

#include "absl/status/status.h"
#include "proto/convert/converted.h"
#include "proto/order.pb.h"
#include "scheduler/model/job/order.h"

namespace muster {

MUSTER_CONVERTED(LaunchOrder)
MUSTER_CONVERTED(StepOrder)
MUSTER_CONVERTED(TerminateOrder)
MUSTER_CONVERTED(SuspendOrder)
MUSTER_CONVERTED(SignalOrder)
MUSTER_CONVERTED(AttachOrder)
MUSTER_CONVERTED(AdviceOrder)

}  // namespace muster
