#pragma once

// What a step is made of, and what it works with.
//
// Invariant: what StepHost refers to outlives the step.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/attempt/reporter.h"
#include "agent/supervisor/container/attempt_containers.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

// What every step of an attempt works with; all of it outlives the steps.
struct StepHost {
  EventLoop& loop;
  const Clock& clock;
  const Logger& log;
  const SupervisorOrder& order;
  Reporter& reporter;
  ClosingSockets& closing;  // has the connections of steps that have ended
  const AttemptCgroup* cgroup = nullptr;
  int mounts = -1;                          // the mount namespace of the ranks; -1: ours
  int private_tmp = -1;                     // what is /tmp there; -1: ours
  const JobUser* user = nullptr;            // as whom the ranks run; null: as we do
  AttemptContainers* containers = nullptr;  // where steps may run in containers
};

// Processes that were saved, to go on in place of a start.
struct StepRestore {
  std::vector<std::string> command;  // becomes the one that restores them as its siblings
  pid_t leader = 0;                  // of the processes
};

// The rank whose variables a step's one rank has, because it entered the job beside that.
struct RankBeside {
  StepId step;
  Program program;
  Allocation placement;
  std::uint32_t node_index = 0;
  std::uint32_t local_rank = 0;
};

struct StepPlan {
  StepId step;  // 0: the batch script
  Program program;
  Allocation placement;          // the whole step's
  std::uint32_t node_index = 0;  // this node's position in it
  std::string script;            // path of the batch script; empty: program.argv is the command
  std::vector<std::string> starter = {};    // what starts the batch script: words before it
  std::optional<StepRestore> restore = {};  // of a batch script
  std::shared_ptr<const RankBeside> beside = {};
  ContainerSpec container = {};  // that it runs in; not given: in none
  bool ends_attempt = false;     // its end is the attempt's

  // What the step has of this node.
  [[nodiscard]] const NodeAllocation& node() const { return placement.nodes[node_index]; }
  // Rank 0 has one.
  [[nodiscard]] bool has_terminal() const { return program.terminal.rows > 0 && script.empty(); }
};

}  // namespace muster::agent
