#include "agent/supervisor/joined_step.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/model/value/joined_rank.h"

namespace muster::agent {
namespace {

constexpr const char* kTerminalType = "TERM=";

// The environment `whole`, on the terminal of who entered.
std::vector<std::string> Entered(const std::vector<std::string>& whole,
                                 const std::vector<std::string>& own) {
  const auto names = [](const std::string& assignment) {
    return absl::StartsWith(assignment, kTerminalType);
  };
  std::vector<std::string> entered = whole;
  const auto terminal = std::find_if(own.begin(), own.end(), names);
  if (terminal != own.end()) {
    std::erase_if(entered, names);
    entered.push_back(*terminal);
  }
  return entered;
}

// All that the job has of the node.
void TakeWhole(const SupervisorOrder& order, NodeAllocation& part) {
  const std::vector<NodeAllocation>& parts = order.launch.allocation.nodes;
  const auto whole = std::find_if(parts.begin(), parts.end(), [&](const NodeAllocation& each) {
    return each.name == part.name;
  });
  if (whole == parts.end()) {
    return;
  }
  std::vector<RankPlacement> ranks = std::move(part.ranks);
  part = *whole;
  part.ranks = std::move(ranks);
  for (RankPlacement& rank : part.ranks) {
    rank.cpus = part.cpus;
    rank.mem_nodes = part.mem_nodes;
    rank.gpus.clear();
    for (const GpuGrant& grant : part.gpus) {
      rank.gpus.push_back(grant.gpu);
    }
  }
}

// What the rank has, and no more.
void TakeRank(const RankPlacement& rank, NodeAllocation& part) {
  part.cpus = rank.cpus;
  part.mem_nodes = rank.mem_nodes;
  if (!rank.gpus.empty() || rank.sees_own_gpus) {
    std::erase_if(part.gpus, [&](const GpuGrant& grant) {
      return std::find(rank.gpus.begin(), rank.gpus.end(), grant.gpu) == rank.gpus.end();
    });
  }
  for (RankPlacement& own : part.ranks) {
    const std::uint32_t number = own.rank;
    own = rank;
    own.rank = number;
  }
}

absl::Status NotHere(const JoinedRank& joined, const std::string& node) {
  return absl::NotFoundError(absl::StrCat("rank ", joined.rank, " of step ", joined.step->value(),
                                          " does not run on ", node));
}

}  // namespace

absl::Status JoinJob(const SupervisorOrder& order, const StepMap& running, StepPlan* plan) {
  const std::optional<JoinedRank> joined = FindJoined(plan->program.environment);
  if (!joined.has_value()) {
    return absl::OkStatus();
  }
  NodeAllocation& part = plan->placement.nodes[plan->node_index];
  const std::vector<std::string> own = std::move(plan->program.environment);
  plan->program.environment = Entered(order.launch.program.environment, own);
  plan->program.umask = order.launch.program.umask;
  plan->program.limits = order.launch.program.limits;
  TakeWhole(order, part);
  if (!joined->step.has_value()) {
    return absl::OkStatus();
  }
  const auto step = running.find(*joined->step);
  if (step == running.end()) {
    return NotHere(*joined, order.node_name);
  }
  const StepPlan& other = step->second->plan();
  const std::vector<RankPlacement>& ranks = other.node().ranks;
  const auto rank = std::find_if(ranks.begin(), ranks.end(), [&](const RankPlacement& each) {
    return each.rank == joined->rank;
  });
  if (rank == ranks.end()) {
    return NotHere(*joined, order.node_name);
  }
  RankBeside beside{other.step, other.program, other.placement, other.node_index,
                    static_cast<std::uint32_t>(rank - ranks.begin())};
  beside.program.environment = Entered(other.program.environment, own);
  plan->program.work_dir = other.program.work_dir;
  TakeRank(*rank, part);
  plan->beside = std::make_shared<const RankBeside>(std::move(beside));
  return absl::OkStatus();
}

}  // namespace muster::agent
