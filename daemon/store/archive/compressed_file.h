#pragma once

// Files through zstd.
//
// Invariants: the file written is there whole and durable, or not at all; what was damaged is
// refused (every frame has a checksum).

#include <string>

#include "absl/status/status.h"

namespace muster::daemon {

// Writes what is in `from` to `to`, compressed.
absl::Status CompressFile(const std::string& from, const std::string& to);

// The other way round. kDataLoss: `from` is damaged or no such file.
absl::Status DecompressFile(const std::string& from, const std::string& to);

}  // namespace muster::daemon
