#pragma once

// What became of restarts: the generation that one was tried from is noted until it is confirmed,
// and set aside when the next start finds it noted still.
//
// Thread promise: one thread at a time. Invariants: a note is on the disk before a restart begins;
// a generation that is set aside keeps its files.

#include <cstdint>
#include <optional>

#include "checkpoint/disk/error.h"
#include "checkpoint/store/store_directory.h"

namespace muster::checkpoint {

class RestartNote {
 public:
  // `directory` outlives this.
  explicit RestartNote(const StoreDirectory& directory) : directory_(&directory) {}

  // Remembers that a restart from `generation` begins.
  Error Note(std::uint64_t generation) const;
  // The restart went well.
  Error Confirm() const;
  // The generation of a restart that was noted and not confirmed: it failed.
  Result<std::optional<std::uint64_t>> Noted() const;
  // Whether there was such a complete generation.
  Result<bool> SetAside(std::uint64_t generation) const;
  // Sets aside what Noted says, and forgets it. The number, or nothing when none was noted or it is
  // gone.
  Result<std::optional<std::uint64_t>> SetAsideFailed() const;

 private:
  const StoreDirectory* directory_;
};

}  // namespace muster::checkpoint
