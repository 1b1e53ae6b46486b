#pragma once

// Which waiting jobs may be looked at for resources at all, and everything that keeps a job from
// it.
//
// The filters before placement: holds, begin times, throttles. Each blocker is a Reason with its
// numbers; all of them are told, not only the first. Thread promise: pure; PassCounts belongs to
// one pass. Invariants: (1) a job without blockers may start as far as anything but nodes is
// concerned; (2) `wake` is never later than the first time at which time alone removes the only
// blockers of a job.

#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/model/ids.h"
#include "scheduler/model/reason.h"
#include "scheduler/model/snapshot.h"
#include "scheduler/model/time.h"

namespace muster {

// What a pass counts as it goes: the snapshot's numbers and the starts that it has planned.
struct PassCounts {
  std::map<JobId, std::uint32_t> array_running;  // by submission, for arrays with a throttle
  Time wake = kNoTime;  // when time alone makes a job eligible; kNoTime for never
};

// The counts at the start of a pass.
PassCounts CountsOf(const Snapshot& snapshot);

// Appends every reason for which the job may not start that has nothing to do with nodes, the one
// to show first in front. Notes in `counts` when the clock alone will change the answer.
void AddJobBlockers(const Snapshot& snapshot, const WaitingJob& job, PassCounts& counts,
                    std::vector<Reason>& blockers);

// Counts a planned start against the jobs that follow.
void CountStart(const WaitingJob& job, PassCounts& counts);

}  // namespace muster
