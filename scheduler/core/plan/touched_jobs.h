#pragma once

// Which jobs events changed: what a list of the waiting ones must look at again.
//
// Whoever owns one tells it of every event; after a gap it knows nothing, and says so. How far a
// dependency is met changes without a word here, for it goes with other jobs and with time. Thread
// promise: none; owned by one thread. Invariants: (1) every job that an event makes, changes or
// ends is in a range with the version that the event makes; (2) what it does not know is never
// taken for unchanged.

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "scheduler/model/change/event.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

// Jobs with ids in a row.
struct JobRange {
  JobId first;
  JobId end;  // behind the last
};

class TouchedJobs {
 public:
  // The state was brought to `version` by the event.
  void Note(const Event& event, Version version);

  // Adds the jobs that were touched later than `since` and up to `now`, in no order and perhaps
  // twice. False when not all of them are known: any job may be.
  [[nodiscard]] bool AppendSince(Version since, Version now, std::vector<JobRange>& jobs) const;

 private:
  void Touch(JobId first, std::uint32_t count);

  std::deque<std::pair<Version, JobRange>> touches_;  // in the order of versions, the newest ones
  Version since_;                                     // later ones are all in there
  Version told_;                                      // up to here
};

}  // namespace muster::core
