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

namespace muster::agent {

struct FetchAhead {
  std::string image;
  std::string cache;  // the user's
  std::uint64_t cache_size = 0;
  FetchTools tools;
};

// From the words that follow `muster-container fetch`: IMAGE CACHE BYTES SECONDS.
absl::StatusOr<FetchAhead> ReadFetchWords(const std::vector<std::string>& words,
                                          const std::vector<std::string>& environment);

// Waits for its turn, then for the image. REQUIRES: nobody waits for us.
absl::Status Fetch(const FetchAhead& wanted);

}  // namespace muster::agent
