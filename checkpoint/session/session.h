#pragma once

// One rank's view of its checkpoints: what it protects, when to write, and how to come back.
//
// Serial programs call Save and RestoreLatest. With several ranks, rank 0 begins, chooses and
// commits; the generation's number is carried to the others and their seals back, by collective.h
// or by the program. Protected memory is only read by writing and only written by
// restoring. With a local level a commit is done when it is done there; a helper process copies it
// to the shared directory afterwards, and what goes wrong with that is the answer (kNotShared) of a
// later commit, which stands. Where the hints say so only some are copied: need.h says which; the
// last one is copied when the session closes. A restart takes the newest of both levels. Thread
// promise: one thread at a time. Invariants: (1) Store's; (2) memory is written only after every
// byte of the shard matched its checksum; (3) restoring fails before it has written anything, or
// does all of it.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/advice/hints.h"
#include "checkpoint/advice/need.h"
#include "checkpoint/advice/progress.h"
#include "checkpoint/session/device_memory.h"
#include "checkpoint/store/local_level.h"
#include "checkpoint/store/store.h"

namespace muster::checkpoint {

struct SessionOptions {
  std::string directory;  // there, and this user's
  std::string job;        // a name; what is restored must bear it
  std::uint32_t attempt = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  bool repartitionable = false;  // another number of ranks may read the shards
  std::uint32_t keep = 2;        // complete generations; and see retention.h
  std::uint64_t milestone = 0;
  double age_s = 0;
  std::uint64_t bytes_max = 0;  // of a directory's complete generations
  double interval_s = 0;        // 0: only what the hints say
  std::string hints{};          // a hint file's path, or none
  std::string progress{};       // a progress file's, where there is one
  std::string topology{};       // remarks for people
  std::string software{};
  std::string hardware{};
  std::string local_directory{};  // on the node's own disk; "": no local level
  std::uint32_t parities = 0;     // what a set of ranks may lose of its local levels
  std::uint32_t set_size = 8;
  std::string failure_domain{};  // lost together; "": the host's name
  bool together = false;         // ranks that a Collective holds together
  std::string flush_program{};   // muster-checkpoint-flush; "": where it is installed
};

enum class StoreLevel { kLocal, kShared };

// What may be restarted from.
struct Candidate {
  GenerationName name;
  StoreLevel level = StoreLevel::kShared;
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> Open(SessionOptions options, Disk& disk = Disk::Real());
  // Has its newest generation copied to the shared directory, if it is to be and is not yet.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // `name` is new and a name (names.h); the memory outlives the session.
  Error Protect(const std::string& name, void* bytes, std::uint64_t size);
  // Memory of a device: it passes through as much memory of the host.
  Error ProtectElsewhere(const std::string& name, Elsewhere memory, std::uint64_t size);
  // The file's content travels with the checkpoint; restoring replaces it whole.
  Error ProtectFile(const std::string& name, const std::string& path);

  // --- Writing ---
  Error Save();                   // one rank: all of it
  Result<std::uint64_t> Begin();  // rank 0
  Result<ShardSeal> Write(std::uint64_t generation);
  Error Commit(std::uint64_t generation, const std::vector<ShardSeal>& seals);  // rank 0
  void Abandon(std::uint64_t generation);                                       // rank 0
  // With a local level, for ranks that each commit to their own: the number after all that this
  // rank knows of (it locks what it writes to, and asks what became of flushes); the directory of
  // the number that all agreed on; the manifest; complete from now on; takes all of it back; what
  // is older goes, after VerifyOwn.
  Result<std::uint64_t> NextNumber();
  Error BeginAs(std::uint64_t generation);
  Manifest ManifestOf(std::uint64_t generation, const std::vector<ShardSeal>& seals) const;
  Error CompleteAs(const Manifest& manifest);
  void TakeBack(std::uint64_t generation);
  LocalLevel* local() { return local_ ? &*local_ : nullptr; }
  const Error& flush_error() const { return flush_error_; }
  // Whether the one that was completed last is to be copied to the shared directory, and that it
  // is, or is left on the local level. Between NoteDone and TellDone.
  bool WantsCopy();
  void NoteCopy(std::uint64_t generation, bool copied);
  // Commit in its parts, for ranks that each read their own shard back (collective.h): complete and
  // found from now on; this rank's shard (rank 0: and the manifest) as it lies on the disk; what is
  // older goes.
  Error Complete(std::uint64_t generation, const std::vector<ShardSeal>& seals);  // rank 0
  Error VerifyOwn(const ShardSeal& seal, std::uint64_t generation);
  Error RetireVerified(std::uint64_t generation);  // rank 0
  // What rank 0's Commit does by itself: a checkpoint is done, the next interval begins; and, when
  // this rank has done all that belongs to it, the scheduler's side learns of it, unless that
  // failed.
  void NoteDone();
  void TellDone(const Error& error);

  // --- Coming back ---
  // Rank 0: sets aside what failed to restart before, and chooses. kNotFound on a first start.
  Result<std::uint64_t> Latest();
  // The same in its parts. What Latest would look at, in that order. Rank 0.
  Result<std::vector<Candidate>> Candidates();
  // Looks at this rank's part of a generation, every byte of it: the manifest, its own shard and
  // that it holds the regions. When others wrote it than we are: every ranks-th shard; kRanks when
  // it is not repartitionable. The manifest's checksum, the same on ranks that see the same. What
  // follows holds all ranks to have examined it, and compares no checksum again.
  Result<std::uint64_t> Examine(const Candidate& candidate);
  // Reads this rank's regions; one that the shared directory may lack is flushed again. kRanks,
  // kRegions: nothing was read.
  Error Restore(std::uint64_t generation);
  // Remembers that a restart from it begins; Restore does, too. Rank 0.
  Error NoteRestart(std::uint64_t generation);
  Error RestoreLatest();  // one rank: both
  // The restart went well; the first Commit says so, too. Rank 0.
  Error Confirm();
  // For repartitionable programs: how many ranks wrote it, and any rank's region.
  Result<std::uint32_t> SavedRanks(std::uint64_t generation);
  Result<std::uint64_t> RegionSize(std::uint64_t generation, std::uint32_t rank,
                                   const std::string& name);
  Error ReadRegion(std::uint64_t generation, std::uint32_t rank, const std::string& name,
                   void* bytes, std::uint64_t size);

  // Two clocks and the mapped pages: no system call.
  Need ShouldCheckpoint();
  // Of a group: the notice that rank 0 goes by, so that all ranks answer the same one.
  std::uint32_t asked_notice() const { return asked_notice_; }
  void AskedFor(std::uint32_t notice);

  const SessionOptions& options() const { return options_; }
  // Why generations were passed over by Latest, a line each.
  const std::vector<std::string>& passed() const { return passed_; }
  // The generation that Candidates or Latest set aside; 0: none.
  std::uint64_t set_aside() const { return aside_; }

 private:
  struct Region {
    std::string name;
    void* bytes = nullptr;
    std::uint64_t size = 0;
    std::string path;     // of a file, then bytes is null
    Elsewhere elsewhere;  // its memory, where bytes and path are none
  };

  Session(SessionOptions options, Store store, Disk& disk);
  // Where commits go.
  Store& Target() { return local_ ? local_->store() : store_; }
  Store& StoreOf(StoreLevel level) {
    return level == StoreLevel::kLocal ? local_->store() : store_;
  }
  // On the local level of several ranks each has its own shard, and parity.
  bool HoldsAllShards(StoreLevel level) const {
    return level == StoreLevel::kShared || options_.ranks == 1;
  }
  Error RetireLocal(std::uint64_t generation, const ShardSeal& seal);
  Error AddRegion(Region region);
  void NoteBegin();
  void NoteRestored();
  Error CheckRankZero(const char* call) const;
  // The manifest of `generation`, this job's, complete or set aside.
  Result<const Manifest*> Known(std::uint64_t generation);
  void Know(Manifest manifest, StoreLevel level);
  Result<std::vector<Candidate>> CandidatesOf();
  Result<Shard> OpenShard(std::uint32_t rank);
  Error SetAsideFailed();
  Error CheckRegions(const Shard& shard) const;
  Error ReadRegions(const Shard& shard);
  Error ExamineShards();

  SessionOptions options_;
  Disk* disk_;
  Store store_;  // of all ranks
  std::optional<LocalLevel> local_;
  std::vector<Region> regions_;
  HintFile hints_;
  ProgressSlot progress_;
  Manifest manifest_;  // of the generation asked for last
  StoreLevel manifest_level_ = StoreLevel::kShared;
  bool knows_manifest_ = false;
  bool examined_ = false;    // every byte of that generation, by this rank and the others together
  std::uint64_t noted_ = 0;  // the generation of the restart noted last
  std::vector<std::string> passed_;
  bool set_aside_ = false;      // Latest looked for a failed restart
  std::uint64_t aside_ = 0;     // and found that of this generation
  Error flush_error_;           // since the last commit
  std::uint64_t uncopied_ = 0;  // commits since the newest that is copied
  std::uint64_t newest_ = 0;    // the last of these
  pid_t pid_;                   // a forked child closes nothing
  // Of the current checkpoint and the pace.
  double began_s_ = 0;
  double last_end_s_ = 0;
  double cost_sum_s_ = 0;
  std::uint64_t checkpoints_ = 0;
  std::uint64_t written_bytes_ = 0;
  Pace pace_;
  std::uint32_t asked_notice_ = 0;
  Need asked_ = Need::kNone;
  bool answered_ = false;  // the last checkpoint was one for a notice or the deadline
};

}  // namespace muster::checkpoint
