#pragma once

// The complete generations of a checkpoint directory, and the removal of old ones over several
// directories.
//
// Thread promise: one thread at a time. Invariants: the newest generation of a directory stays, and
// nothing goes unless that one reads back right; while one is held no other program writes there.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/store/store.h"

namespace muster::cli {

// A directory that is held, and its complete generations, the newest first.
struct KeptGenerations {
  checkpoint::Store store;
  std::vector<checkpoint::Aged> complete;
};

struct KeptSum {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
};

absl::Status StatusOf(const checkpoint::Error& error);

// FailedPrecondition: it is no directory of this user.
absl::StatusOr<checkpoint::Store> OpenStore(const std::string& directory);

// FailedPrecondition: it is no directory of this user, or a living program writes there.
absl::StatusOr<KeptGenerations> HoldGenerations(const std::string& directory);
// Without holding it, as the manifests say.
absl::StatusOr<std::vector<checkpoint::Aged>> CompleteIn(const checkpoint::Store& store);

KeptSum SumOf(const std::vector<checkpoint::Aged>& complete);

// Whether the directory is one of images of CRIU (`criu-JOB`), which are counted here and nothing
// else: the job's supervisor keeps and removes them.
bool IsOfCriu(const std::string& directory);
// Of the whole ones in it.
KeptSum CountImages(const std::string& directory);
KeptSum SumOf(const std::vector<KeptGenerations>& all);

absl::Status RetireBy(const checkpoint::Retention& retention, KeptGenerations& kept);
// The directory with the generation that was written longest ago; null when each has only its
// newest.
KeptGenerations* WithOldest(std::vector<KeptGenerations>& all);
// Removes the oldest one of it. False: another prunes as well.
absl::StatusOr<bool> RetireOldest(KeptGenerations& kept);

// Removes the oldest of all until there is `enough`, or only the newest of each is left.
template <class Enough>
absl::Status RetireUntil(const Enough& enough, std::vector<KeptGenerations>& all) {
  while (!enough(SumOf(all))) {
    KeptGenerations* const oldest = WithOldest(all);
    if (oldest == nullptr) {
      break;
    }
    const absl::StatusOr<bool> went = RetireOldest(*oldest);
    if (!went.ok()) {
      return went.status();
    }
    if (!*went) {
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::cli
