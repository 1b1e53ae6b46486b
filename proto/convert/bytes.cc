#include "proto/convert/bytes.h"

#include "proto/alert.pb.h"
#include "proto/convert/codec.h"
#include "proto/job.pb.h"
#include "proto/journal.pb.h"
#include "proto/machine.pb.h"
#include "proto/node.pb.h"
#include "proto/snapshot.pb.h"
#include "proto/view.pb.h"

namespace muster {

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
MUSTER_BYTES(NodePower)
MUSTER_BYTES(Alert)
MUSTER_BYTES(NarrowLink)
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
