#pragma once

// Whether a user's quota has room for one more checkpoint, and what goes to make that room.
//
// What goes, the oldest first, until there is room: of jobs that have ended, all generations but
// the newest; then the newest ones of jobs that COMPLETED in directories of their own
// (muster-JOB.checkpoint). What a restart may need stays: everything of a job that has not ended,
// of another cluster, or where no word of the jobs can be had; the newest of a job that failed, and
// of a directory that several jobs may share; images of CRIU. Thread promise: one thread; the
// ledger is held. Invariant: nothing goes where there is room without it.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "cli/checkpoint/kept_generations.h"
#include "cli/checkpoint/ledger.h"
#include "scheduler/model/job/checkpoint_record.h"

namespace muster::cli {

struct WantedRoom {
  std::string directory;    // as the ledger names it
  std::uint64_t bytes = 0;  // of the new generation
  KeptSum beside;           // which stay in that directory
  std::string cluster;      // of the job that asks
  std::uint64_t job = 0;
};

enum class JobFate : std::uint8_t {
  kMayGoOn,    // it has not ended
  kCompleted,  // nothing of it is needed
  kEnded,      // otherwise; or it was forgotten
};

// Of each of these jobs of the cluster that asks.
using AskFates =
    std::function<absl::StatusOr<std::map<std::uint64_t, JobFate>>(const std::set<std::uint64_t>&)>;

// The line for checkpoint/store/admission.h, and the ledger as it is then.
std::string MakeRoom(const WantedRoom& wanted, const CheckpointQuota& quota, const AskFates& ask,
                     std::int64_t now_ms, Ledger& ledger);

// What the directories hold now; those that are gone go from the page.
void CountAgain(const std::string& but, LedgerPage& page);

}  // namespace muster::cli
