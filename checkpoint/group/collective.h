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

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/group/agreement.h"
#include "checkpoint/group/group.h"
#include "checkpoint/group/group_restore.h"
#include "checkpoint/group/local_commit.h"
#include "checkpoint/session/session.h"

namespace muster::checkpoint {

class Collective {
 public:
  // Opens a session on every rank; `options` has its rank and ranks from `group`, which outlives
  // this. The directory is one that all ranks see.
  static Result<std::unique_ptr<Collective>> Open(SessionOptions options, Group* group,
                                                  Disk& disk = Disk::Real());
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

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
  const std::vector<std::string>& passed() const { return restore_.passed(); }

 private:
  Collective(std::unique_ptr<Session> session, const Agreement& ranks)
      : ranks_(ranks), session_(std::move(session)) {}
  // The manifest, by rank 0.
  Error Complete(std::uint64_t generation, const ShardSeal& seal);

  Agreement ranks_;
  std::unique_ptr<Session> session_;
  LocalCommit local_{&ranks_, session_.get()};
  GroupRestore restore_{&ranks_, session_.get()};
  Need need_ = Need::kNone;  // the last answer
};

}  // namespace muster::checkpoint
