#pragma once

// One rank's generations on its node's own disk, and their way from there to the shared directory.
//
//   LOCAL/JOB-0123456789abcdef.rank-000007/    a Store of this rank's shards alone, and their queue
//
// The digits are of the shared directory's path, so that jobs of one name keep apart. Thread
// promise: one thread at a time. Invariants: (1) a generation that waits for its flush, or is being
// flushed, stays; of the others the newest two; (2) at most one waits besides what was begun, and
// no more than kUnflushedMax altogether; (3) the program never waits for a flush.

#include <cstdint>
#include <string>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"
#include "checkpoint/store/flush.h"
#include "checkpoint/store/flush_queue.h"
#include "checkpoint/store/store.h"

namespace muster::checkpoint {

inline constexpr std::size_t kUnflushedMax = 4;

struct LocalOptions {
  std::string parent;    // there; others may use it, too
  std::string shared;    // there
  std::string job;       // a name
  std::string program;   // the helper; "": where it is installed
  std::string progress;  // where it tells how long it took; "": nowhere
  std::uint32_t rank = 0;
  Retention retention;  // of the shared directory
};

class LocalLevel {
 public:
  // Makes the rank's directory when it is not there.
  static Result<LocalLevel> Open(const LocalOptions& options, Disk& disk);

  Store& store() { return store_; }
  const Store& store() const { return store_; }

  // Older generations go. REQUIRES: `newest` was read back.
  Error Retire(std::uint64_t newest);
  // A restart from it failed: it is not flushed any more, either.
  Error SetAside(std::uint64_t generation);

  // The newest takes the place of what waits. kNotShared: no helper can be started.
  Error FlushNewest(std::uint64_t generation);

  // In parts, for ranks that flush the same generations. Whether that one waited still.
  bool Withdraw(std::uint64_t generation) { return queue_.Withdraw(generation); }
  bool HasRoom() const;
  Error AskFor(std::uint64_t generation);
  Error StartHelper() const;

  // kNotShared with what went wrong since the last call.
  Error TakeFlushError();

 private:
  LocalLevel(FlushPlan plan, std::string program, Store store, FlushQueue queue);

  FlushPlan plan_;
  std::string program_;
  Store store_;
  FlushQueue queue_;
};

}  // namespace muster::checkpoint
