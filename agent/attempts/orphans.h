#pragma once

// What is left of an attempt whose supervisor died, and its end.
//
// Only processes that provably belong to the attempt are killed: those in its control group; those
// whose process, group or session is one that the supervisor made; and our own children that no
// supervisor owns: those of a dead supervisor, once the agent is their subreaper. The start time
// tells a reused pid from the recorded process. Thread promise: the owner thread's; nothing waits.
// Invariant: a Clearing calls `cleared` once for each attempt, when no process of it is left, and
// never after it went.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/attempts/children.h"
#include "agent/attempts/place/attempt_key.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

// A process that the supervisor recorded, and when: one with that pid that started later is another
// process.
struct RecordedProcess {
  pid_t pid = 0;
  Time seen = kNoTime;
};

struct DeadAttempt {
  std::uint64_t job = 0;
  pid_t supervisor = 0;                      // 0: it never got as far as its claim
  std::uint64_t supervisor_start_ticks = 0;  // nothing of the attempt started earlier
  std::vector<RecordedProcess> ranks;
  std::string cgroup;  // empty: none
};

// Sends SIGKILL to every process that is left and returns how many there were. Call it again, a
// little later, until it returns 0. `is_supervisor` says which of our children are to be left
// alone.
absl::StatusOr<std::size_t> KillOrphans(const DeadAttempt& attempt,
                                        const std::function<bool(pid_t)>& is_supervisor);

// What the attempt's directory says of what its dead supervisor left.
DeadAttempt DeadAttemptIn(const AttemptDirectory& directory, JobId job, std::string cgroup);

// Kills what is left, round after round, until nothing is.
class Clearing {
 public:
  using Cleared = std::function<void(const AttemptKey&)>;
  // Everything that is referred to outlives it.
  Clearing(EventLoop& loop, const Logger& log, Children& children, Cleared cleared);

  // Begins with the first round at once.
  void Begin(const AttemptKey& key, const DeadAttempt& dead) { Round(key, dead, 0); }

 private:
  void Round(const AttemptKey& key, const DeadAttempt& dead, int round);

  EventLoop& loop_;
  const Logger& log_;
  Children& children_;
  const Cleared cleared_;
  std::shared_ptr<const bool> alive_;  // goes with this object: its timers then do nothing
};

}  // namespace muster::agent
