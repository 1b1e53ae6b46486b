#pragma once

// The ranks of a step on this node: whose a process is, how far they are, and signals to them.
//
// The batch script is one rank that has all of the node's cores. Thread promise: the loop's thread.
// Invariants: (1) a process is signalled only between its fork and its reaping, so its pid is its
// own; (2) the ranks stay where they are as long as this lives.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "agent/supervisor/step/step_plan.h"
#include "agent/supervisor/step/step_rank.h"

namespace muster::agent {

class StepRanks {
 public:
  explicit StepRanks(const StepPlan& plan);
  StepRanks(const StepRanks&) = delete;
  StepRanks& operator=(const StepRanks&) = delete;

  [[nodiscard]] const std::vector<std::unique_ptr<StepRank>>& all() const { return ranks_; }
  // Whose process that is, unless it was reaped; null: nobody's.
  [[nodiscard]] StepRank* Find(pid_t pid) const;
  // Of that number in the step; null: it is not here.
  [[nodiscard]] StepRank* Numbered(std::uint32_t number) const;
  // Counted on this node.
  [[nodiscard]] std::uint32_t LocalNumberOf(const StepRank& rank) const;

  // Each runs and was read, or could not be started.
  [[nodiscard]] bool AllSettled() const;
  [[nodiscard]] bool AllEnded() const;
  [[nodiscard]] bool AnyRuns() const;
  // Here, or on other nodes, of which nobody here can tell.
  [[nodiscard]] bool OthersMayRun() const { return several_nodes_ || AnyRuns(); }
  // The batch script's process, while it runs; 0 otherwise.
  [[nodiscard]] pid_t Leader() const;

  // To the process groups of the ranks.
  void Signal(int signal) const;
  // To the ranks' own processes, not to what they have started.
  void SignalLeaders(int signal) const;

 private:
  const bool several_nodes_;
  std::vector<std::unique_ptr<StepRank>> ranks_;
};

}  // namespace muster::agent
