#pragma once

// Which ended jobs are kept no longer.
//
// Thread promise: belongs to the thread of its database. Invariants: (1) a submission goes whole,
// once its last job has ended long enough ago; (2) no job goes that a live one depends on, nor one
// that the journal still names.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "daemon/store/rows/batch.h"
#include "scheduler/model/value/time.h"

namespace muster::daemon {

struct JobsKept {
  Duration age{0};         // since they ended; 0: however long
  std::uint64_t most = 0;  // the newest; 0: however many
  // Nothing younger goes, whatever the rest says: clients repeat what they are not sure of.
  Duration least{std::chrono::hours(1)};

  [[nodiscard]] bool all() const { return age.count() == 0 && most == 0; }
};

// In pieces of a few milliseconds; of very many the oldest.
struct DroppedJobs {
  std::vector<Drops> fresh;     // to be archived first
  std::vector<Drops> archived;  // they were loaded from the archive, for a time that is over
};

absl::StatusOr<DroppedJobs> FindDroppedJobs(Database& store, const JobsKept& kept, Time now);

}  // namespace muster::daemon
