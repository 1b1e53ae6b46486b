#pragma once

// Which waiting jobs may be looked at for resources at all, and everything that keeps a job from
// it.
//
// The filters before placement: holds, dependencies, begin times, deadlines, throttles, licences.
// Each blocker is a Reason with its numbers; all of them are reported, not only the first. Thread
// promise: pure; CycleCounts belongs to one cycle. Invariants: (1) a job without blockers may start
// as far as anything but nodes is concerned; (2) `wake` is never later than the first time at which
// time alone changes the answer for a job.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "scheduler/core/state/tables/licenses.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// What a cycle counts as it goes: the snapshot's numbers and the starts that it has planned.
struct CycleCounts {
  // The counts at the start of a cycle. REQUIRES: `policy` outlives them.
  CycleCounts(const Snapshot& snapshot, const SchedulerConfig& policy);

  const SchedulerConfig& config;
  std::map<JobId, std::uint32_t> array_running;  // by submission, for arrays with a throttle
  LicenseCounts licenses;
  std::set<JobId> alone;  // submissions that run one job at a time and have started one
  Time wake = kNoTime;    // when time alone makes a job eligible; kNoTime for never
};

// Time alone may change the answer at `time`; kNoTime says nothing.
void WakeAt(Time time, CycleCounts& counts);

// Appends every reason for which the job may not start that has nothing to do with nodes, the one
// to show first in front. Notes in `counts` when the clock alone will change the answer.
void AddJobBlockers(const Snapshot& snapshot, const WaitingJob& job, CycleCounts& counts,
                    std::vector<Reason>& blockers);

// The job's end when one of its blockers will never go and it is not to wait for that.
std::optional<PlannedDrop> DropOf(const WaitingJob& job, const std::vector<Reason>& blockers);

// From when on the job takes any leaf switches, however few it asks for: its patience begins with
// its submission, or with --begin.
inline Time SwitchesUntil(const WaitingJob& job, const ResourceRequest& request) {
  return std::max(job.submitted, job.spec->begin) + request.switches_wait;
}

// Counts a planned start against the jobs that follow.
void CountStart(const WaitingJob& job, CycleCounts& counts);

}  // namespace muster::core
