#include "agent/supervisor/step/step_ranks.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace muster::agent {

StepRanks::StepRanks(const StepPlan& plan) : several_nodes_(plan.placement.nodes.size() > 1) {
  std::vector<RankPlacement> placements = plan.node().ranks;
  if (!plan.script.empty()) {
    RankPlacement whole;
    whole.cpus = plan.node().cpus;
    whole.mem_nodes = plan.node().mem_nodes;
    placements = {whole};
  }
  for (RankPlacement& placement : placements) {
    ranks_.push_back(std::make_unique<StepRank>());
    ranks_.back()->exit.rank = placement.rank;
    ranks_.back()->placement = std::move(placement);
  }
}

StepRank* StepRanks::Find(pid_t pid) const {
  const auto found =
      std::find_if(ranks_.begin(), ranks_.end(), [pid](const auto& rank) { return rank->Is(pid); });
  return found == ranks_.end() ? nullptr : found->get();
}

StepRank* StepRanks::Numbered(std::uint32_t number) const {
  const auto found = std::find_if(ranks_.begin(), ranks_.end(), [number](const auto& rank) {
    return rank->placement.rank == number;
  });
  return found == ranks_.end() ? nullptr : found->get();
}

std::uint32_t StepRanks::LocalNumberOf(const StepRank& rank) const {
  std::uint32_t local = 0;
  while (ranks_[local].get() != &rank) {
    ++local;
  }
  return local;
}

bool StepRanks::AllSettled() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->settled; });
}

bool StepRanks::AllEnded() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->ended; });
}

bool StepRanks::AnyRuns() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->pid != 0; });
}

pid_t StepRanks::Leader() const {
  const StepRank& rank = *ranks_.front();
  return rank.settled && !rank.ended && rank.awaited == 0 ? rank.pid : 0;
}

void StepRanks::Signal(int signal) const {
  if (signal <= 0 || signal >= NSIG) {
    return;
  }
  for (const std::unique_ptr<StepRank>& rank : ranks_) {
    // It leads a group of its own as soon as it has run.
    if (rank->pid != 0 && kill(-rank->pid, signal) != 0) {
      kill(rank->pid, signal);
    }
  }
}

void StepRanks::SignalLeaders(int signal) const {
  for (const std::unique_ptr<StepRank>& rank : ranks_) {
    if (rank->pid != 0) {
      kill(rank->pid, signal);
    }
  }
}

}  // namespace muster::agent
