#pragma once

// A control group of ours (v2), where one can be made: the attempt's, and in it one for each step.
//
// Holds what lives in it to its limits, kills and freezes all of it at once, and tells of
// out-of-memory kills. An attempt's processes are in its steps' groups, because the kernel lets no
// group both have processes and pass controllers on. Thread promise: one thread. Invariant: the
// directory is removed by Remove(), which succeeds only once nothing lives in it.

#include <optional>
#include <string>

#include "agent/supervisor/attempt/limit_set.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/limits/group_limits.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class AttemptCgroup {
 public:
  // Makes `directory`; nothing when it is empty or cannot be made into a usable cgroup.
  static std::optional<AttemptCgroup> Make(const std::string& directory);
  // A group in this one, held to `limits` as far as the node's can be; nothing when there can be
  // none.
  [[nodiscard]] std::optional<AttemptCgroup> MakeStep(const std::string& name,
                                                      const GroupLimits& limits,
                                                      const LimitSet& promised) const;

  // Holds the attempt to what its node and its allocation say, and says what holds. For an empty
  // group, before its first step.
  LimitSet Hold(const SupervisorOrder& order, const NodeAllocation& part) const;

  // For children to enter by writing "0".
  [[nodiscard]] int procs() const { return procs_.get(); }
  // For children to be started in.
  [[nodiscard]] int directory_fd() const { return opened_.get(); }
  // Takes everything in it off the processors, or lets it run again; false where the kernel cannot.
  [[nodiscard]] bool Freeze(bool freeze) const;
  // Whether nothing in it can run.
  [[nodiscard]] bool Frozen() const;
  // Whether anything lives in it.
  [[nodiscard]] bool Populated() const;
  // SIGKILL to everything in it, atomically; false where the kernel cannot.
  [[nodiscard]] bool Kill() const;
  // Why the kernel's out-of-memory killer struck in it, in words with the peak and the limit;
  // nothing when it did not.
  [[nodiscard]] std::optional<std::string> OutOfMemory() const;
  // The same, but nothing unless the limit that was reached is this group's own.
  [[nodiscard]] std::optional<std::string> OutOfOwnMemory() const;
  // The most that all of it held at once; 0 where the kernel does not count.
  [[nodiscard]] Bytes PeakMemory() const;
  // For how long some thread in it waited for storage; nothing where the kernel does not count.
  [[nodiscard]] std::optional<Duration> IoWait() const;
  void Remove() const;

 private:
  AttemptCgroup(std::string directory, UniqueFd opened, UniqueFd procs)
      : directory_(std::move(directory)), opened_(std::move(opened)), procs_(std::move(procs)) {}

  std::string directory_;
  UniqueFd opened_;
  UniqueFd procs_;
};

// The words for it, from the group's memory.events, its memory.events.local (which counts its own
// limit alone; empty where the kernel has none), memory.max and memory.peak; nothing when no
// process was killed.
std::optional<std::string> OutOfMemoryText(const std::string& events, const std::string& local,
                                           const std::string& max, const std::string& peak);

}  // namespace muster::agent
