#pragma once

// A checkpoint directory: generations written whole, found, verified, set aside and removed.
//
//   DIR/gen-0000000012/{manifest, shard-000000, shard-000001, …}     a complete generation
//   DIR/gen-0000000013.tmp/        being written, or left by a killed writer
//   DIR/gen-0000000011.bad/        a restart from it failed: set aside
//   DIR/latest                     the name of the newest, for people and scripts
//   DIR/restarting                 the generation that a restart was tried from and not confirmed
//   DIR/lock                       held by the living writer
//   DIR/gen-0000000014.from-…/     coming shard by shard from the ranks' local levels
//   DIR/flush.lock                 held while one of those is made complete
//
// Order of a commit: mkdir gen.tmp; each shard written and flushed; the manifest, and the new file
// for `latest`, written and flushed; the directory flushed; renamed to gen; DIR flushed; then
// `latest` replaced.
// Only then are older generations removed, and only if the new one reads back right. Thread
// promise: one thread at a time an object. Invariants: (1) whatever fails, and whenever a process
// is killed, a generation that was complete before stays complete and is found; (2) a generation is
// chosen only if every byte of it matches its checksum and it is this job's and this user's; (3)
// nothing outside DIR is ever written or removed.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/advice/retention.h"
#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"
#include "checkpoint/disk/names.h"
#include "checkpoint/store/manifest.h"
#include "checkpoint/store/restart_note.h"
#include "checkpoint/store/shard.h"
#include "checkpoint/store/store_directory.h"

namespace muster::checkpoint {

class Store {
 public:
  // Opens the directory `path`, which must be there and this user's.
  static Result<Store> Open(Disk& disk, const std::string& path);
  Store() : lock_(Disk::Real(), -1) {}

  // Every generation, the newest first.
  Result<std::vector<GenerationName>> List() const;

  // The manifest of a generation, itself verified; the shards are not looked at.
  Result<Manifest> ReadManifest(const GenerationName& name) const;
  // Verify, and that it is this job's.
  Result<Manifest> VerifyFor(const std::string& job, const GenerationName& name) const;
  // Every byte: the manifest, that the directory holds its shards and nothing else, their sizes,
  // heads and checksums.
  Result<Manifest> Verify(const GenerationName& name) const;

  // The newest complete generation of `job` that Verify accepts; without one, the newest of those
  // set aside. Why others were passed over is added to `passed`, a line each. kNotFound when there
  // is none at all; the worst of what was found when there were only bad ones.
  Result<Manifest> ChooseForRestart(const std::string& job, std::vector<std::string>* passed) const;

  // What ChooseForRestart would look at, in that order.
  Result<std::vector<GenerationName>> Candidates() const;
  // That the generation holds `manifest`'s shards and nothing else, by name.
  Error CheckEntries(const GenerationName& name, const Manifest& manifest) const;
  // Every byte of one shard of a complete generation.
  Error VerifyShard(const ShardHead& head, const ShardSeal& seal) const;

  // Opens a generation's directory.
  Result<OpenFile> OpenGeneration(const GenerationName& name) const;
  // Opens a shard of `manifest`'s generation for reading.
  Result<Shard> OpenShard(const Manifest& manifest, std::uint32_t rank) const;

  // --- Writing; one writer at a time ---

  // Holds the lock from now on; kBusy when another living process does.
  Error LockForWriting();
  // The number after all that are or come here.
  Result<std::uint64_t> Next() const;
  // Removes what killed writers left, and makes the directory of a new generation.
  Error BeginAs(std::uint64_t number);
  // Writes one shard of the generation that BeginAs made, here or in another process. `head` names
  // the generation.
  Result<ShardSeal> Write(const ShardHead& head, const std::vector<RegionBytes>& regions) const;
  // Makes the generation complete. On failure it stays partial.
  Error Commit(const Manifest& manifest);
  // Removes a partial generation.
  void Abandon(std::uint64_t generation);
  // Removes the complete generations that `retention` lets go, if there are any and generation
  // `newest` reads back right. Age and size are those that the manifests tell; one that cannot be
  // read is of no age and no size.
  Error Retire(std::uint64_t newest, const Retention& retention);
  // As Retire, for a caller that verified it already.
  Error RetireVerified(std::uint64_t newest, const Retention& retention);
  // Removes a generation. It stops being complete before its first file goes.
  Error Remove(const GenerationName& name);

  // Restarts that were noted (restart_note.h); shards that arrive (arrivals.h).
  RestartNote restarts() const { return RestartNote(directory_); }
  const StoreDirectory& directory() const { return directory_; }
  Disk& disk() const { return directory_.disk(); }

 private:
  explicit Store(StoreDirectory directory)
      : directory_(std::move(directory)), lock_(directory_.disk(), -1) {}

  StoreDirectory directory_;
  OpenFile lock_;
};

// The newest complete generation that seems whole: all but the bytes of its regions is looked at.
// 0: there is none.
std::uint64_t NewestThatSeemsWhole(const Store& store);

}  // namespace muster::checkpoint
