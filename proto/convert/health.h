#pragma once

// Model <-> wire: health checks that are ordered and reported.
//
// Invariants: see converted.h.

#include "absl/status/status.h"
#include "proto/convert/converted.h"
#include "proto/health.pb.h"
#include "scheduler/model/machine/health.h"

namespace muster {

MUSTER_CONVERTED(HealthOrder)
MUSTER_CONVERTED(HealthReport)

}  // namespace muster
