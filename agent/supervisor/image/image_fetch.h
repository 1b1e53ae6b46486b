#pragma once

// An image fetched into its user's cache before the job that wants it begins.
//
// Works as the user. Invariants: (1) of one user's images one is fetched ahead at a time on a node;
// (2) a job that begins meanwhile waits for that very fetch (image_cache.h), and for no other.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/image/image_source.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct FetchAhead {
  std::string image;
  std::string cache;  // the user's
  std::uint64_t cache_size = 0;
  FetchTools tools;
  bool asks = false;  // another node may have it
};

// From the words that follow `muster-container fetch`: IMAGE CACHE BYTES SECONDS,
// and "shared" or "shared-here" where another node may have it (the latter on one machine).
absl::StatusOr<FetchAhead> ReadFetchWords(const std::vector<std::string>& words,
                                          const std::vector<std::string>& environment);

// What is fetched ahead of a job gets what running jobs leave of the processors.
inline constexpr int kLeastPriority = 19;

// The turn of the user of that cache on this node, kept while it is open. Unavailable: another one
// has it.
absl::StatusOr<UniqueFd> TakeTurn(const std::string& cache, std::uint64_t cache_size);

// Waits for the image. REQUIRES: nobody waits for us, and it is our turn.
absl::Status Fetch(const FetchAhead& wanted);

}  // namespace muster::agent
