#pragma once

// Model <-> wire: the only translator between model values and messages.
//
// ToWire never fails; FromWire says which field holds what it should not. Both walk the struct's
// Fields(), so a member added to a model struct needs a field of the same name in its message and
// nothing here.

#include <string>

#include "absl/status/status.h"
#include "proto/agent.pb.h"
#include "proto/controller.pb.h"
#include "proto/journal.pb.h"
#include "proto/order.pb.h"
#include "proto/plan.pb.h"
#include "proto/snapshot.pb.h"
#include "proto/supervisor.pb.h"
#include "proto/view.pb.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/job/job_update.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/machine/tuning.h"
#include "scheduler/model/plan/explanation.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/replay_bundle.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/policy_usage.h"
#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/policy/priority.h"
#include "scheduler/model/view/view.h"

namespace muster {

#define MUSTER_CONVERTED(TYPE)                         \
  void ToWire(const TYPE& value, wire::TYPE* message); \
  absl::Status FromWire(const wire::TYPE& message, muster::TYPE* value);

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
MUSTER_CONVERTED(Snapshot)
MUSTER_CONVERTED(ReplayBundle)

#undef MUSTER_CONVERTED

}  // namespace muster
