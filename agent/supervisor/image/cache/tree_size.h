#pragma once

// How much lies below a directory, and whether that is too much: an image's layers may unpack to
// far more than they are.
//
// Thread promise: the caller's thread. Invariant: no link is followed.

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace muster::agent {

struct TreeSize {
  std::uint64_t bytes = 0;  // of files, as long as they are
  std::uint64_t entries = 0;
};

// Counts until `most` is passed. What cannot be read counts as nothing.
TreeSize SizeOf(const std::string& directory, const TreeSize& most);

// ResourceExhausted, when `most` is passed.
absl::Status CheckSize(const std::string& directory, const TreeSize& most);

}  // namespace muster::agent
