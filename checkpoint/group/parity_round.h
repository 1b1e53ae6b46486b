#pragma once

// A set of ranks makes its parity, or rebuilds what some of them lost, by messages.
//
// In pieces, so that no rank needs memory for a segment; the arithmetic is erasure.h's. Each call
// is made by all members of the set. Thread promise: one thread at a time. Invariants: what goes
// wrong with one member's disk stops no other: all exchange all pieces; `broken` means that the
// ranks lost one another.

#include <cstdint>

#include "checkpoint/disk/hashed_file.h"
#include "checkpoint/group/group.h"
#include "checkpoint/parity/erasure.h"
#include "checkpoint/parity/parity_file.h"
#include "checkpoint/parity/protection_set.h"
#include "checkpoint/store/shard.h"

namespace muster::checkpoint {

struct ParityRound {
  Group* group = nullptr;
  ProtectionSet set;
  Erasure erasure;
  std::uint64_t segment = 0;  // of the largest member
  std::uint32_t place = 0;    // of this rank in the set
  bool broken = false;
};

// kUsage when the set cannot have that many parities. `largest`: the largest member's shard.
Result<ParityRound> MakeRound(Group* group, const ProtectionSet& set, std::uint32_t parities,
                              std::uint64_t largest);

// Appends this member's parity, of all members' shards.
Error EncodeParity(ParityRound* round, const Shard& own, ParityWriter* parity);

// What a member that lost nothing sends.
struct Survivor {
  const Shard* shard = nullptr;
  const ParityFile* parity = nullptr;
};

// What a member that lost its part writes: `size` bytes of its shard, and its parity.
struct Rebuilt {
  HashedFile* shard = nullptr;
  ParityWriter* parity = nullptr;
  std::uint64_t size = 0;
};

// Rebuilds the members that are in `lost`, one after another. One of the last two is this rank's.
Error RebuildLost(ParityRound* round, const std::vector<bool>& lost, const Survivor* own,
                  const Rebuilt* rebuilt);

}  // namespace muster::checkpoint
