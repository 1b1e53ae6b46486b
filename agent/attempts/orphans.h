#pragma once

// What is left of an attempt whose supervisor died, and its end.
//
// Only processes that provably belong to the attempt are killed: those in its control group; those
// whose process, group or session is one that the supervisor made; and our own children that no
// supervisor owns: those of a dead supervisor, once the agent is their subreaper. The start time
// tells a reused pid from the recorded process. Thread promise: the owner thread's; nothing waits.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/value/time.h"

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
absl::StatusOr<std::size_t> KillLeftovers(const DeadAttempt& attempt,
                                          const std::function<bool(pid_t)>& is_supervisor);

}  // namespace muster::agent
