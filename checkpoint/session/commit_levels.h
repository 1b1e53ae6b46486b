#pragma once

// Where one rank's commits go: the shared directory, or the node's own disk and from there, by a
// helper process, to the shared directory.
//
// A commit with a local level is done when it is done there; what goes wrong with its copy is the
// answer (kNotShared) of a later commit, which stands. Thread promise: one thread at a time.
// Invariants: Store's; what the helper has not copied stays on the local level.

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/session/session_options.h"
#include "checkpoint/store/local_level.h"
#include "checkpoint/store/store.h"

namespace muster::checkpoint {

enum class StoreLevel { kLocal, kShared };

class CommitLevels {
 public:
  // `options` outlives this.
  CommitLevels(const SessionOptions& options, Store shared, std::optional<LocalLevel> local);

  Store& shared() { return shared_; }
  LocalLevel* local() { return local_ ? &*local_ : nullptr; }
  // REQUIRES: the level is there.
  Store& At(StoreLevel level);
  // On the local level of several ranks each has its own shard, and parity.
  bool HoldsAllShards(StoreLevel level) const;

  // --- A commit ---
  // Locks what this rank writes to, and asks what became of copies.
  Error Lock();
  // The number after all that this rank knows of.
  Result<std::uint64_t> Next();
  Error BeginAs(std::uint64_t generation);
  Result<ShardSeal> Write(std::uint64_t generation, const std::vector<RegionBytes>& regions);
  Manifest ManifestOf(std::uint64_t generation, const std::vector<ShardSeal>& seals) const;
  // Complete and found from now on. Rank 0's confirms the restart before it.
  Error Complete(const Manifest& manifest);
  // What stays on the shared level beside what was completed last.
  const Retention& retention() const { return retention_; }
  // This rank's shard (rank 0: and the manifest) as it lies on the disk.
  Error VerifyOwn(std::uint64_t generation, const ShardSeal& seal);
  // What is older goes, after VerifyOwn. Of the shared directory, rank 0.
  Error RetireVerified(std::uint64_t generation);
  // Removes a partial one; takes back even a complete one.
  void Abandon(std::uint64_t generation);
  void TakeBack(std::uint64_t generation);

  // --- Copies, with a local level ---
  // One rank: copies the generation if it is wanted. What went wrong with copies so far.
  Error Copy(std::uint64_t generation, bool wanted);
  // The generation was completed, and is copied or left.
  void NoteCopy(std::uint64_t generation, bool copied);
  // The newest that is left is copied after all, as the session ends.
  void CopyLast();
  // Which this one will be, of those after the newest that is copied; from 1.
  std::uint64_t since_copy() const { return uncopied_ + 1; }
  const Error& copy_error() const { return copy_error_; }

 private:
  Store& Target() { return local_ ? local_->store() : shared_; }

  const SessionOptions* options_;
  Store shared_;  // of all ranks
  std::optional<LocalLevel> local_;
  Retention retention_;
  Error copy_error_;            // since the last commit
  std::uint64_t uncopied_ = 0;  // commits since the newest that is copied
  std::uint64_t newest_ = 0;    // the last of these
};

}  // namespace muster::checkpoint
