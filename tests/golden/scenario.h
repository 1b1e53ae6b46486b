#pragma once

// A scenario: a cluster and a queue as a text file, for the golden tests of the planner.
//
// One thing a line, `#` begins a comment:
//   node NAME [numa=N] [cores=N] [threads=N] [gpus=N] [model=TEXT] [memory=GiB] [taken=CPULIST]
//        [taken_memory=GiB] [down] [drained]
//   job [tasks=N] [cpus=N] [nodes=MIN[-MAX]] [per_node=N] [mem=GiB] [mem_per_cpu=GiB]
//       [gpus=N] [gpus_per_node=N] [gpus_per_task=N] [type=TEXT] [nice=N] [begin=SECONDS]
//       [exclusive] [overcommit] [held] [array=FIRST-LAST[%THROTTLE]]
// cores, gpus and memory are of each NUMA node; begin is after now.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::golden {

// InvalidArgument names the line.
absl::StatusOr<Snapshot> ReadScenario(const std::string& text);

// The plan and the explanation of every job left waiting, as text with one fact a line.
std::string Describe(const Snapshot& snapshot, const Plan& plan);

}  // namespace muster::golden
