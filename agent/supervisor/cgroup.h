#pragma once

// The attempt's own cgroup (v2), where one can be made: kills everything at once and tells of
// out-of-memory kills.
//
// Limits are not set here. Thread promise: one thread. Invariant: the directory is removed by
// Remove(), which succeeds only once nothing is left in it.

#include <optional>
#include <string>

#include "scheduler/runtime/unique_fd.h"

namespace muster {

class AttemptCgroup {
 public:
  // Makes `directory`; nothing when it is empty or cannot be made into a usable cgroup.
  static std::optional<AttemptCgroup> Make(const std::string& directory);

  // For children to enter by writing "0".
  [[nodiscard]] int procs() const { return procs_.get(); }
  // Takes everything in it off the processors, or lets it run again; false where the kernel cannot.
  [[nodiscard]] bool Freeze(bool freeze) const;
  // Whether nothing in it can run.
  [[nodiscard]] bool Frozen() const;
  // SIGKILL to everything in it, atomically where the kernel can.
  void Kill() const;
  // Whether the kernel's out-of-memory killer struck in it.
  [[nodiscard]] bool OutOfMemory() const;
  void Remove() const;

 private:
  AttemptCgroup(std::string directory, UniqueFd procs)
      : directory_(std::move(directory)), procs_(std::move(procs)) {}

  std::string directory_;
  UniqueFd procs_;
};

}  // namespace muster
