#pragma once

// What a rank stores for the others of its set, beside its own shard.
//
// Grammar (integers little-endian):
//
//   file = "MUSTPRTY" version:u32 rank:u32 members:u32 parities:u32 segment:u64 generation:u64
//          seal:u64 set:kSetMembersMax*u32 *parity checksum:u64
//
// `seal` is the manifest's checksum, `set` the ranks of the set (the rest zeros), `parity` the
// segments that this rank holds, parity 0 first, and `checksum` XXH3-64 of all before it. Thread
// promise: one thread at a time. Invariant: nothing read is trusted before the checksum and the
// size matched.

#include <cstdint>
#include <memory>
#include <string>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"
#include "checkpoint/disk/hashed_file.h"
#include "checkpoint/parity/protection_set.h"

namespace muster::checkpoint {

struct ParityHead {
  std::uint32_t rank = 0;
  std::uint32_t parities = 0;
  std::uint64_t segment = 0;
  std::uint64_t generation = 0;
  std::uint64_t seal = 0;
  ProtectionSet set;
};

// "parity-000007".
std::string ParityName(std::uint32_t rank);

// Written from its beginning; Finish flushes and closes.
class ParityWriter {
 public:
  // Of a file that is not there yet.
  static Result<ParityWriter> Open(Disk& disk, int directory, const ParityHead& head);

  Error Append(const void* bytes, std::uint64_t size);
  Error Finish();

 private:
  ParityWriter(Disk& disk, OpenFile file);

  Disk* disk_;
  OpenFile file_;
  std::unique_ptr<HashedFile> hashed_;
};

// Opened and verified, every byte.
class ParityFile {
 public:
  static Result<ParityFile> Open(Disk& disk, int directory, std::uint32_t rank);
  ParityFile() : file_(Disk::Real(), -1) {}

  const ParityHead& head() const { return head_; }
  // `size` bytes at `offset` of parity number `parity`.
  Error Read(std::uint32_t parity, std::uint64_t offset, void* bytes, std::uint64_t size) const;

 private:
  Disk* disk_ = nullptr;
  OpenFile file_;
  ParityHead head_;
};

}  // namespace muster::checkpoint
