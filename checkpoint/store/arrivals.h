#pragma once

// Generations that come to a Store shard by shard from the ranks' local levels, each shard by a
// process of its own, and become complete when the last one is there.
//
// Thread promise: one thread at a time an object, any number of processes. Invariants: Store's; two
// generations of one number never mix; an older one never follows a newer one.

#include <cstdint>
#include <string>

#include "checkpoint/disk/error.h"
#include "checkpoint/store/store.h"

namespace muster::checkpoint {

class Arrivals {
 public:
  // `store` outlives this.
  // Copies take no more than `rate` bytes a second; 0: as fast as it goes.
  explicit Arrivals(Store* store, std::uint64_t rate = 0)
      : store_(store), directory_(&store->directory()), rate_(rate) {}

  // Whether this very generation is complete here; kForeign when another one bears its number.
  Result<bool> HasSame(const Manifest& manifest) const;
  // Copies a shard of `manifest`'s generation from `from`, where it is complete, and reads it back.
  // False: it was here already and right, and is left as it is.
  Result<bool> Place(const Manifest& manifest, std::uint32_t rank, const Store& from) const;
  // Makes the generation complete once all of its shards are here, and lets those go that
  // `retention` and its completion make superfluous. Whether it is complete now. kForeign when
  // another one bears its number; kBusy when another process has been at this for long; kOverQuota
  // when `admission` (admission.h) refuses it.
  Result<bool> Complete(const Manifest& manifest, const Retention& retention,
                        const std::string& admission = {});

 private:
  Result<OpenFile> LockForFlush() const;
  Result<bool> CompleteLocked(const Manifest& manifest, const Retention& retention,
                              const std::string& admission);
  void RemoveBefore(std::uint64_t generation) const;

  Store* store_;
  const StoreDirectory* directory_;
  std::uint64_t rate_;
};

// Makes a generation complete whose files, the manifest too, came from elsewhere into what BeginAs
// made: only if every byte is right.
Error Adopt(std::uint64_t generation, Store* store);

}  // namespace muster::checkpoint
