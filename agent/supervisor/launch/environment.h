#pragma once

// The environment of a job's processes: a pure function of the order and of the step.
//
// What the submitter's shell carried of other schedulers and launchers is dropped, then every name
// of ours is set twice, MUSTER_X and SLURM_X; ranks also get what MPI-less launchers, OpenMP and
// CUDA look for. All GPUs of the job on a node are visible to all its local ranks, in one order in
// which LOCAL_RANK i's nearest GPU is device i; ranks that have GPUs of their own see those alone.

#include <cstdint>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/variables/rank_variables.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"

namespace muster::agent {

// Replaced by the child with its own pid, in place: as many digits as a pid can have.
inline constexpr const char* kPidPlaceholder = "4294967295";

// A step as its ranks' environment needs it.
struct StepContext {
  StepId step;
  const Program* program = nullptr;
  const Allocation* placement = nullptr;  // the whole step's
  std::uint32_t node_index = 0;           // this node's position in `placement`
  std::uint16_t master_port = 0;
};

// The submitter's variables without those that belong to a launch of ours or of another launcher.
std::vector<std::string> WithoutStaleVariables(const std::vector<std::string>& environment);

// Of the batch script on the allocation's node `node_index`. Sorted by name.
std::vector<std::string> BatchEnvironment(const SupervisorOrder& order, std::uint32_t node_index);

// Of the ranks of a step on one node: what they share is made once.
class StepEnvironment {
 public:
  // REQUIRES: the order, and what the step points to, outlive it.
  StepEnvironment(const SupervisorOrder& order, const StepContext& step);
  // Of the rank at `local_rank` of the step's node. Sorted by name.
  [[nodiscard]] std::vector<std::string> Of(std::uint32_t local_rank) const;

 private:
  const SupervisorOrder& order_;
  const StepContext step_;
  const NodeAllocation& node_;
  const NodeAllocation* whole_;  // what the job has of that node
  Variables shared_;
};

// What starts the batch script where its checkpoints are to be kept on an object store, too: words
// before it. Empty: it starts by itself.
std::vector<std::string> CarrierOf(const SupervisorOrder& order);

// MUSTER_CHECKPOINT_DIR of its processes: the same for every attempt.
std::string CheckpointDirectoryOf(const LaunchOrder& launch);

// The port that every node of a step derives without asking the others: 20000-29999.
std::uint16_t DerivedPort(JobId job, StepId step);

}  // namespace muster::agent
