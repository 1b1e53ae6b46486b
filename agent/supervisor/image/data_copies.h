#pragma once

// A job's copies of data on this node, in its user's cache: found there by what their sources are
// now, or made by `muster stage`.
//
// The cache is the images' own (image_cache.h): a copy is kept as an image is whose files are the
// data. Thread promise: the one thread of the program, which is the job's user. Invariants: (1) a
// copy is whole, of its source as it was before and after it was copied; (2) no user keeps more
// than the size of the settings, but for what is in use.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/container_order.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct DataCopies {
  DataAnswer facts;
  std::vector<UniqueFd> locks;  // keep them
};

struct AheadOrder {
  DataOrder data;
  bool paths_only = false;
};

// From the words that follow `muster-container bring-ahead`: paths|all CACHE BYTES PROGRAM
// SOURCE...
absl::StatusOr<AheadOrder> ReadAheadWords(const std::vector<std::string>& words);

// The turn of the user, as TakeTurn of image_fetch.h.
absl::StatusOr<UniqueFd> TakeTurn(const AheadOrder& order);

// Has the copies made for a job that waits still, by what the least important process gets. Why
// that failed, BringCopies of the job says.
absl::Status BringAhead(const AheadOrder& order, const std::vector<std::string>& environment);

// All of them, in the environment of a process of the job's. Errors are one line, of which source.
absl::StatusOr<DataCopies> BringCopies(const DataOrder& order,
                                       const std::vector<std::string>& environment);

}  // namespace muster::agent
