#include "proto/convert/job.h"

#include "proto/convert/codec.h"
#include "proto/convert/through_bytes.h"

namespace muster {

MUSTER_CONVERTED_THROUGH_BYTES(Allocation)
MUSTER_CONVERTED_THROUGH_BYTES(GpuWork)
MUSTER_CONVERTED_THROUGH_BYTES(RankGpuWork)
MUSTER_CONVERTED_THROUGH_BYTES(RankPace)
MUSTER_CONVERTED_THROUGH_BYTES(Report)
MUSTER_CONVERTED_THROUGH_BYTES(Usage)

}  // namespace muster
