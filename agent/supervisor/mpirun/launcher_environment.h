#pragma once

// The environment of launchers inside a job, and of the ranks that they start: Open MPI's `mpirun`,
// the `mpiexec` of MPICH and of Intel MPI.
//
// A launcher knows its machine and not the job, and hands its own node's environment to ranks on
// others. So each starts its ranks on a node by a process of ours there: Open MPI each rank through
// muster-rank, MPICH its proxies through muster-rsh, also on the script's own node. What a user
// sets himself stands.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/variables/rank_variables.h"
#include "scheduler/model/machine/allocation.h"

namespace muster::agent {

// What muster-rsh says of the step that it begins, in the environment MUSTER_LAUNCHER.
enum class LauncherKind : std::uint8_t {
  kNone,            // no launcher
  kOpenMpi,         // "orted"
  kHydra,           // "hydra": an mpiexec that may want any number of ranks here
  kHydraAsPlanned,  // "hydra-as-planned": it wants the plan's
};
LauncherKind LauncherOf(const std::vector<std::string>& environment);

// For the script, or a step on `node`.
void SetLaunchers(const SupervisorOrder& order, const NodeAllocation& node, Variables* variables);

// For a step that is a launcher's daemon on the node, in place of its rank's environment: what all
// the ranks have that it starts.
void SetDaemon(const SupervisorOrder& order, const NodeAllocation& whole, LauncherKind kind,
               Variables* variables);

// HYDRA_BINDING with the threads of the node's ranks: "user:0+1,2+3".
std::string HydraBinding(const NodeAllocation& node);

// A rank that a launcher inside the job starts on the allocation's node `node_index`, by its
// launcher's numbers.
struct InnerRank {
  std::string launcher = "an mpirun";
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 1;
  bool found = false;                    // and did not ask: its launcher has placed it
  bool bound = false;                    // by its launcher: its user wanted that
  const RankPlacement* place = nullptr;  // of a planned rank; null: all that the job has there
  std::vector<std::string> own;          // what it has of OMP_, UCX_ and NCCL_ already
  CpuSet cpus;                           // on which it may run before it is placed
};

// What it is to have besides: NAME=VALUE, or NAME alone to have it not.
std::vector<std::string> InnerRankEnvironment(const SupervisorOrder& order,
                                              std::uint32_t node_index, const InnerRank& inner);

}  // namespace muster::agent
