#pragma once

// One rank's part of a generation: a file with a head, a table of regions, and their bytes.
//
// Grammar (version 1; integers little-endian; names padded with zero bytes):
//
//   shard  = head *region *data
//   head   = "MUSTSHRD" version:u32 regions:u32 rank:u32 ranks:u32 generation:u64
//            job:64 bytes
//   region = name:64 bytes size:u64           ; `regions` of them
//   data   = the region's bytes               ; in the table's order, nothing between or after
//
// The checksum of the whole file stands in the manifest. Thread promise: one thread at a time an
// object. Invariants: (1) a shard is opened only if it is a plain file of ours with one name, no
// set-user-id bit, and the size that its table adds up to; (2) nothing read from it is trusted
// before that: no size is used to allocate or to seek that the file does not have.

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"
#include "checkpoint/disk/hashed_file.h"
#include "checkpoint/store/manifest.h"

namespace muster::checkpoint {

inline constexpr std::uint32_t kRegionsMax = 100'000;

// Whose shard it is.
struct ShardHead {
  std::string job;
  std::uint64_t generation = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  friend bool operator==(const ShardHead&, const ShardHead&) = default;
};

// The head of `rank`'s shard in the generation of `manifest`.
ShardHead HeadOf(const Manifest& manifest, std::uint32_t rank);

// Memory to write.
struct RegionBytes {
  std::string name;
  const void* bytes = nullptr;
  std::uint64_t size = 0;
};

// Where a region lies in its shard.
struct RegionPlace {
  std::string name;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

// Writes `head`'s shard into the open directory `directory` and flushes it. The file must not be
// there yet.
Result<ShardSeal> WriteShard(Disk& disk, int directory, const ShardHead& head,
                             const std::vector<RegionBytes>& regions);

// A shard that is open for reading.
class Shard {
 public:
  // kForeign when it is another job's, rank's or generation's, or no plain file of ours; kCorrupt
  // when its size is not `seal`'s or its table makes no sense.
  static Result<Shard> Open(Disk& disk, int directory, const ShardHead& head,
                            const ShardSeal& seal);

  Shard() : file_(Disk::Real(), -1) {}

  const std::vector<RegionPlace>& regions() const { return regions_; }
  const RegionPlace* Find(const std::string& name) const;

  // Reads all of a region into `bytes`, which has room for it.
  Error Read(const RegionPlace& region, void* bytes) const;

  // Reads all of it and compares.
  Error VerifyChecksum() const;

  // Of the file as it lies there, zeros after its end.
  Error ReadRaw(std::uint64_t offset, void* bytes, std::uint64_t size) const;

  // All of the file, as it lies there.
  Error CopyTo(HashedFile* to, std::uint64_t rate = 0) const;

 private:
  Shard(Disk& disk, OpenFile file, ShardSeal seal)
      : disk_(&disk), file_(std::move(file)), seal_(seal) {}
  Error ReadTable(const ShardHead& head);

  Disk* disk_ = nullptr;
  OpenFile file_;
  ShardSeal seal_;
  std::vector<RegionPlace> regions_;
};

}  // namespace muster::checkpoint
