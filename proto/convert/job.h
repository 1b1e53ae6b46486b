#pragma once

// Model <-> wire: allocations, what supervisors report, and what was used.
//
// Invariants: see converted.h.

#include "absl/status/status.h"
#include "proto/convert/converted.h"
#include "proto/job.pb.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/gpu_work.h"
#include "scheduler/model/view/rank_pace.h"

namespace muster {

MUSTER_CONVERTED(Allocation)
MUSTER_CONVERTED(GpuWork)
MUSTER_CONVERTED(RankGpuWork)
MUSTER_CONVERTED(RankPace)
MUSTER_CONVERTED(Report)
MUSTER_CONVERTED(Usage)

}  // namespace muster
