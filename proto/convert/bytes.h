#pragma once

// Model <-> the bytes of a message: what `through_bytes` does, without the message.
//
// AppendWire never fails; ReadWire says which field holds what it should not.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "scheduler/model/change/alert.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/machine/power.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/policy_usage.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/model/view/view.h"

namespace muster {

#define MUSTER_BYTES(TYPE)                                \
  void AppendWire(const TYPE& value, std::string* bytes); \
  absl::Status ReadWire(std::string_view bytes, muster::TYPE* value);

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
