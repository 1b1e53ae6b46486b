#include "proto/convert/node.h"

#include "proto/convert/codec.h"
#include "proto/convert/through_bytes.h"

namespace muster {

MUSTER_CONVERTED_THROUGH_BYTES(GpuOccupant)
MUSTER_CONVERTED_THROUGH_BYTES(GpuPace)
MUSTER_CONVERTED_THROUGH_BYTES(HealthOrder)
MUSTER_CONVERTED_THROUGH_BYTES(HealthReport)
MUSTER_CONVERTED_THROUGH_BYTES(LayoutOrder)
MUSTER_CONVERTED_THROUGH_BYTES(Registration)

}  // namespace muster
