#pragma once

// The directories of a user's cache: their locks, and what an image's says of it.
//
// Thread promise: the caller's thread. Invariant: a lock is on the directory that is at its path
// when it is taken, not on one that has gone from there.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/image/cache/image_facts.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct DescribedImage {
  ImageFacts facts;
  std::uint64_t bytes = 0;
};

// flock(2) with `operation`; an invalid descriptor: it is gone, or in use.
UniqueFd LockDirectory(const std::string& path, int operation);

// In order; none of a directory that cannot be read.
std::vector<std::string> NamesIn(const std::string& directory);

std::string DescriptionOf(const DescribedImage& image);
// What stands in the image's directory. DataLoss names it.
absl::StatusOr<DescribedImage> ReadDescription(const std::string& path);

// It counts as used now, to the nanosecond, which the file system's own clock does not tell apart.
void CountAsUsed(int directory);

// Takes it out of sight, so that nobody finds half of it; where it is then, "": it stays.
std::string MoveAside(const std::string& path);
// Whether MoveAside() made that name of a file.
bool IsAside(const std::string& name);

// For the removal of one directory.
inline constexpr Duration kRemovalLimit{60000};

}  // namespace muster::agent
