#pragma once

// One rank's view of its checkpoints: what it protects, when to write, and how to come back.
//
// Serial programs call Save and RestoreLatest. With several ranks, rank 0 begins, chooses and
// commits; the generation's number is carried to the others and their seals back, by collective.h
// or by the program. What it protects is regions.h's; where commits go is commit_levels.h's, when
// they are due cadence.h's, and what may be restarted from saved_generations.h's. Where the hints
// say so only some commits are copied from the local level: need.h says which; the last one is
// copied when the session closes. Thread promise: one thread at a time. Invariants: (1) Store's;
// (2) those of SavedGenerations; (3) a forked child's copy closes nothing.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/session/cadence.h"
#include "checkpoint/session/commit_levels.h"
#include "checkpoint/session/device_memory.h"
#include "checkpoint/session/regions.h"
#include "checkpoint/session/saved_generations.h"
#include "checkpoint/session/session_options.h"

namespace muster::checkpoint {

class Session {
 public:
  static Result<std::unique_ptr<Session>> Open(SessionOptions options, Disk& disk = Disk::Real());
  // Has its newest generation copied to the shared directory, if it is to be and is not yet.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // As Regions has them.
  Error Protect(const std::string& name, void* bytes, std::uint64_t size);
  Error ProtectElsewhere(const std::string& name, Elsewhere memory, std::uint64_t size);
  Error ProtectFile(const std::string& name, const std::string& path);

  // --- Writing ---
  Error Save();                   // one rank: all of it
  Result<std::uint64_t> Begin();  // rank 0
  Result<ShardSeal> Write(std::uint64_t generation);
  Error Commit(std::uint64_t generation, const std::vector<ShardSeal>& seals);  // rank 0
  // Commit in its parts, for ranks that each read their own shard back (collective.h): the number
  // after all that this rank knows of; complete and found from now on, by rank 0 or, on ranks that
  // each commit to their own level, as a manifest that all have.
  Result<std::uint64_t> NextNumber();
  Error Complete(std::uint64_t generation, const std::vector<ShardSeal>& seals);  // rank 0
  Error CompleteAs(const Manifest& manifest);

  // --- Coming back ---
  Result<std::uint64_t> Latest();  // rank 0; as SavedGenerations
  Error Restore(std::uint64_t generation);
  Error RestoreLatest();  // one rank: both
  // The restart went well; the first Commit says so, too. Rank 0.
  Error Confirm();
  Error ReadRegion(std::uint64_t generation, std::uint32_t rank, const std::string& name,
                   void* bytes, std::uint64_t size);

  // Two clocks and the mapped pages: no system call.
  Need ShouldCheckpoint();

  const SessionOptions& options() const { return options_; }
  CommitLevels& levels() { return levels_; }
  Cadence& cadence() { return cadence_; }
  SavedGenerations& saved() { return saved_; }

 private:
  Session(SessionOptions options, Store store, std::optional<LocalLevel> local, HintFile hints,
          ProgressSlot progress, Disk& disk);

  const SessionOptions options_;
  Regions regions_;
  CommitLevels levels_;
  Cadence cadence_;
  SavedGenerations saved_;
  pid_t pid_;  // a forked child closes nothing
};

}  // namespace muster::checkpoint
