#pragma once

// Checkpoints of several ranks at once: all of them have the new generation, or none has.
//
// A commit: rank 0 begins; every rank writes and flushes its shard; all agree that all could; only
// then rank 0 writes the manifest and renames. Each rank reads its own shard back before anything
// older goes. A restart takes the newest generation of which every rank could read its part. What
// went wrong on one rank is the answer on all, with that rank's number. With local levels every
// rank commits its own shard and the manifest there, with parity of its set where that is asked
// for; a restart takes the newest generation that all ranks have, or can rebuild. Thread promise:
// one thread at a time; each call is made by all ranks. Invariants: (1) those of store.h; (2) all
// ranks that return from a call return the same verdict, unless the group failed; (3) a group that
// failed (a rank is gone) fails every call from then on: such a program ends itself.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/group/group.h"
#include "checkpoint/group/parity_round.h"
#include "checkpoint/session/session.h"

namespace muster::checkpoint {

class Collective {
 public:
  // Opens a session on every rank; `options` has its rank and ranks from `group`, which outlives
  // this. The directory is one that all ranks see.
  static Result<std::unique_ptr<Collective>> Open(SessionOptions options, Group* group,
                                                  Disk& disk = Disk::Real());

  // For protecting, and for reading what another number of ranks wrote.
  Session& session() { return *session_; }

  // After an error the generation before stands. One that is found after the rename (a shard that
  // does not read back right) leaves the new one there, and the older ones with it.
  Error Save();

  // The generation that all ranks came back from. kNotFound: a first start. kRanks with a
  // generation: another number of ranks wrote it, and it is declared repartitionable: nothing was
  // read yet, Session::ReadRegion reads it.
  Result<std::uint64_t> RestoreLatest();

  Error Confirm();

  // Rank 0's answer on every rank. Talks to the others; Session::ShouldCheckpoint does not.
  Result<Need> ShouldCheckpoint();

  // Of SavedGenerations::passed, on rank 0, with what other ranks had against generations.
  const std::vector<std::string>& passed() const { return passed_; }

 private:
  Collective(std::unique_ptr<Session> session, Group* group)
      : group_(group), session_(std::move(session)) {}
  // The error of the first rank that has one, on every rank.
  static Error Agree(Group* group, const Error& own);
  Error Agree(const Error& own);
  Error Share(std::uint64_t* number);
  Error ShareText(std::uint32_t root, std::string* text);
  static Error Gone();
  // Each rank's, on all ranks.
  template <class Record>
  Error GatherAll(const Record& own, std::vector<Record>* all) {
    all->resize(group_->ranks());
    broken_ = broken_ || !group_->Gather(&own, sizeof own, all->data()) ||
              !group_->Broadcast(0, all->data(), all->size() * sizeof own);
    return broken_ ? Gone() : Error();
  }
  Error GatherSeals(const ShardSeal& seal, std::vector<ShardSeal>* seals);
  Error Complete(std::uint64_t generation, const ShardSeal& seal);

  // --- Local levels ---
  Error FormSets();
  Error SaveLocally();
  Error WriteLocally(std::uint64_t generation);
  Error WriteParity(const Manifest& manifest);
  Error VerifyParity(std::uint64_t generation) const;
  Error AskForFlush(std::uint64_t generation);

  // --- Coming back ---
  // A generation that may be restarted from, as ranks tell one another.
  struct Pick {
    std::uint64_t number = 0;
    std::uint64_t state = 0;
    std::uint64_t local = 0;  // 1, or 0 for the shared level
    std::uint64_t seal = 0;   // of a local one: its manifest's checksum
  };
  // What a rank has of a local generation.
  struct Holding {
    std::uint32_t whole = 0;
    std::uint32_t parities = 0;  // 0: it has no good parity
    std::uint32_t members = 0;
    std::array<std::uint32_t, kSetMembersMax> set{};
  };
  static GenerationName NameOf(const Pick& pick);
  Error SetAsideEverywhere(std::uint64_t generation);
  Error Offer(std::vector<Pick>* picks);
  Error Picks(std::vector<Pick>* picks);
  Error TryPick(const Pick& pick);
  // Whether all ranks came back from it.
  Error TryFrom(const GenerationName& name);
  Error TryLocal(const Pick& pick);
  Holding Examine(const Pick& pick, Error* fatal);
  Error Rebuild(const Pick& pick, const std::vector<Holding>& holdings);
  Error RebuildMine(const Manifest& manifest, const ProtectionSet& set, std::uint32_t parities,
                    const std::vector<bool>& lost);
  Error SendMine(const Manifest& manifest, const std::vector<bool>& lost, ParityRound* round);
  Error TakeRebuilt(const Manifest& manifest, const std::vector<bool>& lost, ParityRound* round);
  Error ComeBack(std::uint64_t generation);

  Group* group_;
  std::unique_ptr<Session> session_;
  std::vector<std::string> passed_;
  std::vector<ProtectionSet> sets_;
  std::uint64_t asked_ = 0;  // the generation whose flush was asked for last
  Need need_ = Need::kNone;  // the last answer
  bool broken_ = false;
};

}  // namespace muster::checkpoint
