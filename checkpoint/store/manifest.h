#pragma once

// What a generation consists of, and whose it is: the file that makes it complete.
//
// Grammar (LF ends each line, nothing follows the last; numbers are decimal without
// leading zeros, checksums 16 lower-case hex digits of XXH3-64):
//
//   manifest    = "muster-checkpoint " ("1" / "2") LF
//                 "job " name LF
//                 "attempt " number LF
//                 "generation " number LF
//                 "written_ms " number LF                 ; of the Unix epoch
//                 "ranks " number LF
//                 "repartitionable " ("0" / "1") LF
//                 "topology " remark LF
//                 "software " remark LF
//                 "hardware " remark LF
//                 ["flush_error " remark LF]              ; in version 2, and not empty
//                 1*shard                                 ; as many as ranks, rank 0 first
//                 "end " checksum LF                      ; of every byte above this line
//   shard       = "shard " rank " " bytes " " checksum LF
//
// The name of a shard's file follows from its rank (names.h) and stands nowhere. Invariants:
// ParseManifest(PrintManifest(m)) is m; any other text is refused, including that of one changed
// bit.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

// What a manifest says of a shard's file.
struct ShardSeal {
  std::uint32_t rank = 0;
  std::uint64_t bytes = 0;     // of the file
  std::uint64_t checksum = 0;  // of all of them
  friend bool operator==(const ShardSeal&, const ShardSeal&) = default;
};

struct Manifest {
  std::string job;  // a name
  std::uint32_t attempt = 0;
  std::uint64_t generation = 0;
  std::uint64_t written_ms = 0;
  bool repartitionable = false;
  std::string topology;  // remarks
  std::string software;
  std::string hardware;
  // What went wrong in the background since the generation before, on its way to the shared level.
  std::string flush_error;
  std::vector<ShardSeal> shards;  // of all ranks, in order
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// REQUIRES: names, remarks and ranks are such.
std::string PrintManifest(const Manifest& manifest);

// kCorrupt says what is wrong first.
Result<Manifest> ParseManifest(std::string_view text);

// The largest text that ParseManifest takes.
inline constexpr std::size_t kManifestBytesMax = std::size_t{64} << 20;

// XXH3-64 of a text.
std::uint64_t ChecksumOf(std::string_view text);

}  // namespace muster::checkpoint
