#include "proto/convert/convert.h"

#include "proto/convert/bytes.h"
#include "proto/convert/codec.h"
#include "proto/convert/through_bytes.h"

namespace muster {

#define MUSTER_CONVERTED(TYPE)                                            \
  void ToWire(const TYPE& value, wire::TYPE* message) {                   \
    convert::WriteThroughBytes(value, message);                           \
  }                                                                       \
  absl::Status FromWire(const wire::TYPE& message, muster::TYPE* value) { \
    return convert::ReadThroughBytes(message, value);                     \
  }

MUSTER_CONVERTED(Machine)
MUSTER_CONVERTED(JobSpec)
MUSTER_CONVERTED(Program)
MUSTER_CONVERTED(StepSpec)
MUSTER_CONVERTED(Allocation)
MUSTER_CONVERTED(NodeAllocation)
MUSTER_CONVERTED(Job)
MUSTER_CONVERTED(Node)
MUSTER_CONVERTED(Registration)
MUSTER_CONVERTED(Report)
MUSTER_CONVERTED(LaunchOrder)
MUSTER_CONVERTED(StepOrder)
MUSTER_CONVERTED(TerminateOrder)
MUSTER_CONVERTED(SuspendOrder)
MUSTER_CONVERTED(SignalOrder)
MUSTER_CONVERTED(AttachOrder)
MUSTER_CONVERTED(AdviceOrder)
MUSTER_CONVERTED(Usage)
MUSTER_CONVERTED(StepIo)
MUSTER_CONVERTED(StepView)
MUSTER_CONVERTED(JournalEntry)
MUSTER_CONVERTED(Plan)
MUSTER_CONVERTED(JobView)
MUSTER_CONVERTED(JobDetail)
MUSTER_CONVERTED(NodeView)
MUSTER_CONVERTED(AttemptView)
MUSTER_CONVERTED(JobUpdate)
MUSTER_CONVERTED(PolicyChanged)
MUSTER_CONVERTED(Spent)
MUSTER_CONVERTED(AccountUsage)
MUSTER_CONVERTED(Account)
MUSTER_CONVERTED(Association)
MUSTER_CONVERTED(ChargedRun)
MUSTER_CONVERTED(JobEstimate)
MUSTER_CONVERTED(Priority)
MUSTER_CONVERTED(Assignment)
MUSTER_CONVERTED(PolicyView)
MUSTER_CONVERTED(PolicyChangeView)
MUSTER_CONVERTED(SchedulerConfig)
MUSTER_CONVERTED(PlacementQuality)
MUSTER_CONVERTED(Tuning)
MUSTER_CONVERTED(HealthOrder)
MUSTER_CONVERTED(HealthReport)
MUSTER_CONVERTED(HealthRecord)
MUSTER_CONVERTED(NodeHealth)
MUSTER_CONVERTED(HealthView)
MUSTER_CONVERTED(LargestGpuJob)

#undef MUSTER_CONVERTED

#define MUSTER_BYTES(TYPE)                                             \
  void AppendWire(const TYPE& value, std::string* bytes) {             \
    convert::WriteMessage<wire::TYPE>(value, bytes);                   \
  }                                                                    \
  absl::Status ReadWire(std::string_view bytes, muster::TYPE* value) { \
    return convert::ReadMessage<wire::TYPE>(bytes, value);             \
  }

MUSTER_BYTES(Job)
MUSTER_BYTES(Node)
MUSTER_BYTES(NodeHealth)
MUSTER_BYTES(HealthRecord)
MUSTER_BYTES(JournalEntry)
MUSTER_BYTES(JobDetail)
MUSTER_BYTES(AttemptView)
MUSTER_BYTES(PolicyChanged)
MUSTER_BYTES(SchedulerConfig)
MUSTER_BYTES(Spent)
MUSTER_BYTES(AccountUsage)
MUSTER_BYTES(JobSpec)
MUSTER_BYTES(Program)
MUSTER_BYTES(JobView)
MUSTER_BYTES(NodeView)

#undef MUSTER_BYTES

}  // namespace muster
