#pragma once

// A file that is written from its beginning and hashed on the way, and one that is read so.
//
// Piece by piece, small enough to stay in a core's own cache between hashing and the system call;
// the disk begins to write while more is hashed. Thread promise: one thread at a time. Invariant:
// checksum() is that of the written() bytes that were handed over.

#include <cstdint>

#include "checkpoint/disk/checksum.h"
#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

class HashedFile {
 public:
  // `fd` is open for writing, and empty.
  HashedFile(Disk& disk, int fd) : disk_(disk), fd_(fd) {}

  Error Append(const void* bytes, std::uint64_t size);
  std::uint64_t written() const { return written_; }
  std::uint64_t checksum() const { return checksum_.value(); }

 private:
  Disk& disk_;
  int fd_;
  Checksum checksum_;
  std::uint64_t written_ = 0;
  std::uint64_t begun_ = 0;  // up to there the disk was asked to write
};

// The checksum of the `size` bytes that `fd` begins with; kCorrupt when it has fewer.
Result<std::uint64_t> HashFile(Disk& disk, int fd, std::uint64_t size);

// Appends the `size` bytes that `from` begins with; no more than `rate` a second, 0: as fast as it
// goes.
Error CopyInto(Disk& disk, int from, std::uint64_t size, HashedFile* to, std::uint64_t rate = 0);

}  // namespace muster::checkpoint
