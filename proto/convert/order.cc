#include "proto/convert/order.h"

#include "proto/convert/codec.h"
#include "proto/convert/through_bytes.h"

namespace muster {

MUSTER_CONVERTED_THROUGH_BYTES(LaunchOrder)
MUSTER_CONVERTED_THROUGH_BYTES(StepOrder)
MUSTER_CONVERTED_THROUGH_BYTES(TerminateOrder)
MUSTER_CONVERTED_THROUGH_BYTES(SuspendOrder)
MUSTER_CONVERTED_THROUGH_BYTES(SignalOrder)
MUSTER_CONVERTED_THROUGH_BYTES(AttachOrder)
MUSTER_CONVERTED_THROUGH_BYTES(AdviceOrder)

}  // namespace muster
