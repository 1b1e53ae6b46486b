#pragma once

// A batch: what one round of the controller's loop makes durable, in one transaction or not at all.
//
// Made on the controller's thread, written on the store's. Thread promise: plain values, moved from
// one thread to the other. Invariants: (1) `entries` follow the last committed version without a
// gap; (2) `jobs` and `nodes` are the values after the last entry; (3) a job is in at most one of
// `jobs` and `ended`; (4) `cycles` are in the order in which they were made.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/database/table_rows.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/machine/power.h"
#include "scheduler/model/machine/tuning.h"
#include "scheduler/model/plan/cycle_record.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/policy_usage.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {

// A job that reached a terminal state, for the accounting; its row among the live jobs goes. With
// `detail.job.indices`: all elements of its array that have these, their ids from `id` on.
struct EndedJob {
  JobId id;
  JobId submission;
  JobDetail detail;  // without attempts: those are rows of their own
};

// An attempt that is over, whether or not its job goes on.
struct EndedAttempt {
  JobId job;
  AttemptView attempt;
  std::string user;  // the user that is charged for it
  std::string account;
};

// Rows that are kept no longer: entries and cycles that the archive has, jobs that ended long ago.
// REQUIRES: no live job needs any of them.
struct Drops {
  Version journal_begins;                            // from now on; invalid: as until now
  std::vector<std::pair<Version, Version>> entries;  // from the first to the second
  std::int64_t cycles = 0;                           // up to the row of that id
  std::vector<JobId> jobs;                           // with attempts, steps and notes
  std::vector<JobId> submissions;                    // the last of whose jobs goes or went
};

// Rows of ended jobs that come back from the archive. What is there already stays as it is.
struct Loads {
  struct Rows {
    const TableOf* table = nullptr;
    std::vector<TableRow> rows;
  };
  std::vector<Rows> rows;          // a row after those that it names
  std::vector<JobId> submissions;  // theirs
  Time until;                      // they are kept so long
};

struct Batch {
  std::vector<JournalEntry> entries;
  std::vector<Job> jobs;  // changed and not ended
  std::vector<EndedJob> ended;
  std::vector<EndedAttempt> attempts;
  std::vector<Node> nodes;          // changed
  std::vector<Spent> spent;         // changed
  std::vector<AccountUsage> usage;  // changed
  std::vector<CycleRecord> cycles;
  std::vector<NodeHealth> health;     // changed
  std::vector<FailureTally> tallies;  // changed
  std::vector<NodePower> power;       // changed

  std::vector<Tuning> tunings;
  std::vector<std::pair<JobId, JobNote>> notes;
  std::vector<Drops> drops;
  std::vector<Loads> loads;
  // What is answered rests on this controller's leading, though nothing is written: the store is
  // asked whether it does.
  bool confirms = false;

  [[nodiscard]] bool empty() const {
    return !confirms && entries.empty() && cycles.empty() && tunings.empty() && notes.empty() &&
           drops.empty() && loads.empty();
  }
};

}  // namespace muster::daemon
