#pragma once

// How the starts that were promised to waiting jobs held.
//
// A job is promised the start of its reservation, or the latest start that the journal says, from
// the first cycle that makes one until it starts; a promise holds when the job starts no later than
// a second after it, for the cycle that starts it comes when its time has come. A job that was held
// or changed has none until the next. Thread promise: a value; one thread. Invariants: each start
// counts once, with the first and the last promise before it; only jobs that wait are kept.

#include <cstdint>
#include <map>

#include "scheduler/model/change/event.h"
#include "scheduler/model/plan/plan.h"

namespace muster::core {

struct PromiseTally {
  std::uint64_t held = 0;
  double error_s = 0;  // the mean distance between promise and start
};

struct PromiseReport {
  std::uint64_t starts = 0;  // of jobs that had been promised one
  PromiseTally first;        // promise of each
  PromiseTally last;
  double promised_wait_s = 0;  // the mean, from the first promise's cycle to the start promised
  double worst_s = 0;          // the most that a job started after its first promise
  JobId worst;                 // none where no job did
};

class PromiseTable {
 public:
  // A cycle at `now` made the plan.
  void Plan(const muster::Plan& plan, Time now);
  // An event of the journal.
  void Apply(const Event& event);
  // What was promised counts no more; what was counted stays.
  void Forget() { open_.clear(); }

  [[nodiscard]] PromiseReport Report() const;

 private:
  struct Promise {
    Time made = kNoTime;
    Time first = kNoTime;
    Time last = kNoTime;
  };

  void Start(JobId job, Time now);

  std::map<JobId, Promise> open_;
  PromiseReport sums_;  // its means are sums
};

}  // namespace muster::core
