#pragma once

// Model <-> wire: what watching clients are told.
//
// Invariants: see converted.h.

#include "absl/status/status.h"
#include "proto/convert/converted.h"
#include "proto/view.pb.h"
#include "scheduler/model/view/view.h"

namespace muster {

MUSTER_CONVERTED(JobView)

}  // namespace muster
