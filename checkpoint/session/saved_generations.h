#pragma once

// What one rank may restart from: choosing a generation of both levels, looking at every byte of
// it, and reading it.
//
// The newest of both levels first, of one number the local one; those that a restart failed from
// behind all others. Thread promise: one thread at a time. Invariants: (1) memory is written only
// after every byte of the shard matched its checksum; (2) restoring fails before it has written
// anything, or does all of it.

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/session/commit_levels.h"
#include "checkpoint/session/regions.h"
#include "checkpoint/session/session_options.h"
#include "checkpoint/store/store.h"

namespace muster::checkpoint {

// What may be restarted from.
struct Candidate {
  GenerationName name;
  StoreLevel level = StoreLevel::kShared;
};

class SavedGenerations {
 public:
  // All three outlive this.
  SavedGenerations(const SessionOptions& options, CommitLevels& levels, const Regions& regions)
      : options_(&options), levels_(&levels), regions_(&regions) {}

  // Rank 0: sets aside what failed to restart before, and chooses. kNotFound on a first start.
  Result<std::uint64_t> Latest();
  // What Latest would look at, in that order. Rank 0.
  Result<std::vector<Candidate>> Candidates();
  // Looks at this rank's part of a generation, every byte of it: the manifest, its own shard and
  // that it holds the regions. When others wrote it than we are: every ranks-th shard; kRanks when
  // it is not repartitionable. The manifest's checksum, the same on ranks that see the same. What
  // follows holds all ranks to have examined it, and compares no checksum again.
  Result<std::uint64_t> Examine(const Candidate& candidate);

  // Reads this rank's regions; one that the shared directory may lack is copied again. kRanks,
  // kRegions: nothing was read.
  Error Restore(std::uint64_t generation);
  // Remembers that a restart from it begins; Restore does, too. Rank 0.
  Error NoteRestart(std::uint64_t generation);
  // The restart went well. Rank 0.
  Error Confirm();
  // A newer generation confirms it by itself.
  void ForgetRestart() { noted_ = 0; }

  // For repartitionable programs: how many ranks wrote it, and any rank's region.
  Result<std::uint32_t> Ranks(std::uint64_t generation);
  Result<std::uint64_t> RegionSize(std::uint64_t generation, std::uint32_t rank,
                                   const std::string& name);
  Error ReadRegion(std::uint64_t generation, std::uint32_t rank, const std::string& name,
                   void* bytes, std::uint64_t size);

  // Why generations were passed over by Latest, a line each.
  const std::vector<std::string>& passed() const { return passed_; }
  // The generation that Candidates or Latest set aside; 0: none.
  std::uint64_t set_aside() const { return aside_; }

 private:
  Error SetAsideFailed();
  Result<std::vector<Candidate>> Sorted();
  // The manifest of `generation`, this job's, complete or set aside.
  Result<const Manifest*> Known(std::uint64_t generation);
  void Know(Manifest manifest, StoreLevel level);
  Result<Shard> OpenShard(std::uint32_t rank);
  Error ExamineShards();

  const SessionOptions* options_;
  CommitLevels* levels_;
  const Regions* regions_;
  Manifest manifest_;  // of the generation asked for last
  StoreLevel manifest_level_ = StoreLevel::kShared;
  bool knows_manifest_ = false;
  bool examined_ = false;    // every byte of that generation, by this rank and the others together
  std::uint64_t noted_ = 0;  // the generation of the restart noted last
  std::vector<std::string> passed_;
  bool set_aside_ = false;   // Latest looked for a failed restart
  std::uint64_t aside_ = 0;  // and found that of this generation
};

}  // namespace muster::checkpoint
