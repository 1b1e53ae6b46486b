#pragma once

// One rank of a step while it lives: its process, its streams, what was read of it.
//
// Private to this room. Thread promise: the loop's thread. Invariant: `pid` is set
// from the fork to the reaping and 0 otherwise; it is the restorer's until the rank is restored.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/supervisor/step/rank_pipes.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/runtime/unique_fd.h"
#include "topology/bind/read_back.h"

namespace muster::agent {

struct StepRank {
  RankPlacement placement;
  pid_t pid = 0;
  pid_t awaited = 0;  // the process that is to be restored in place of `pid`; 0 once it is
  std::optional<int> early_end;   // its wait status, if it ended before `pid`
  std::uint32_t started_pid = 0;  // kept for the report
  UniqueFd said;                  // open until the exec or its failure
  std::string said_bytes;
  std::optional<topology::KernelBinding> self;  // what the child reported of itself
  std::optional<RankBinding> binding;
  bool settled = false;   // it runs and was read, or it could not be started
  bool failed = false;    // it could not be started
  bool recalled = false;  // the step was told to end before it could begin
  bool ended = false;
  RankExit exit;
  // The child's ends, until it is forked; shared files are the step's.
  UniqueFd input_end;
  UniqueFd output_end;
  UniqueFd error_end;
  int input_fd = -1;
  int output_fd = -1;
  int error_fd = -1;
  [[nodiscard]] bool Is(pid_t process) const { return pid == process || awaited == process; }
  std::unique_ptr<OutputPipe> output;
  std::unique_ptr<OutputPipe> error;
};

}  // namespace muster::agent
