#pragma once

// Local generations that some ranks lost, rebuilt by the parity of the others.
//
// Thread promise: one thread at a time; each call is made by all ranks. Invariants: a shard is
// complete again only with the checksum of its manifest; a disk that fails stops no other member.

#include <array>
#include <cstdint>
#include <vector>

#include "checkpoint/group/agreement.h"
#include "checkpoint/group/parity_round.h"
#include "checkpoint/parity/protection_set.h"
#include "checkpoint/session/session.h"

namespace muster::checkpoint {

// A generation that may be restarted from, as ranks tell one another.
struct Pick {
  std::uint64_t number = 0;
  std::uint64_t state = 0;
  std::uint64_t local = 0;  // 1, or 0 for the shared level
  std::uint64_t seal = 0;   // of a local one: its manifest's checksum
};

GenerationName NameOf(const Pick& pick);

// What a rank has of a local generation.
struct Holding {
  std::uint32_t whole = 0;
  std::uint32_t parities = 0;  // 0: it has no good parity
  std::uint32_t members = 0;
  std::array<std::uint32_t, kSetMembersMax> set{};
};

class GroupRebuild {
 public:
  // Both outlive this.
  GroupRebuild(Agreement* ranks, Session* session) : ranks_(ranks), session_(session) {}

  // Gives each rank that lacks `pick` its shard again. `holdings`: of all ranks, the same on each.
  // kCorrupt: too much is lost.
  Error Rebuild(const Pick& pick, const std::vector<Holding>& holdings);

 private:
  Error RebuildMine(const Manifest& manifest, const ProtectionSet& set, std::uint32_t parities,
                    const std::vector<bool>& lost);
  Error SendMine(const Manifest& manifest, const std::vector<bool>& lost, ParityRound* round);
  Error TakeRebuilt(const Manifest& manifest, const std::vector<bool>& lost, ParityRound* round);

  Agreement* ranks_;
  Session* session_;
};

}  // namespace muster::checkpoint
