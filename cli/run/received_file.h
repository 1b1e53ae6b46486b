#pragma once

// A file that comes over standard input, written whole or not at all: `muster cast` on each node.
//
// Thread promise: one owner. Invariants: (1) nothing is at the destination before all of it was
// written, synced and found to be what was sent; (2) no symbolic link is followed, neither on the
// way nor at the destination; (3) what is there is replaced only when asked to.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::cli {

struct FileDigest {
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // FNV-1a, 64 bit
  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

// Of what `fd` has from where it stands to its end.
absl::StatusOr<FileDigest> DigestOf(int fd);

struct ReceivedFile {
  std::string path;  // absolute
  FileDigest digest;
  std::uint32_t mode = 0644;
  bool replace = false;
};

// Errors name the path.
absl::Status Receive(int input, const ReceivedFile& file);

}  // namespace muster::cli
