#include "scheduler/core/plan/mig_demand.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "scheduler/core/mig/divided_node.h"
#include "scheduler/core/mig/mig_classes.h"
#include "scheduler/core/mig/mig_layout.h"
#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/search/feasibility.h"
#include "scheduler/core/plan/search/planned_nodes.h"
#include "scheduler/core/plan/second_plan.h"

namespace muster::core {
namespace {

// Waiting jobs that are looked at, and second plans that are made, in one cycle.
constexpr std::size_t kJobsMost = 200;
constexpr int kPlansMost = 8;

// What waiting jobs ask for, the first of them first.
struct Asked {
  JobId id;  // of an array's elements the first
  const ResourceRequest* request = nullptr;
  std::uint64_t gpus = 0;
};

// A node with some of its GPUs divided otherwise.
struct ChangedNode {
  NodeSnapshot node;
  std::vector<GpuLayout> layouts;
};

std::uint64_t GpusOf(const WaitingJob& job) {
  const ResourceRequest& request = job.spec->request;
  const std::uint64_t each =
      std::uint64_t{request.gpus_per_task.count} * std::max(request.tasks, 1U) +
      std::uint64_t{request.gpus_per_node.count} * std::max(request.min_nodes, 1U);
  return each * job.count;
}

bool Starts(const Plan& plan, JobId job) {
  return std::any_of(plan.starts.begin(), plan.starts.end(),
                     [job](const PlannedStart& start) { return start.job == job; });
}

class DivisionSearch {
 public:
  DivisionSearch(const Snapshot& snapshot, const Plan& plan, const SchedulerConfig& config)
      : config_(config),
        classes_(config.mig),
        base_(WithOthersWaiting(snapshot, FirstJobs(snapshot, plan, kJobsMost))),
        plan_(plan) {
    NoteTaken(snapshot);
    NoteAsked();
  }

  std::vector<GpuWish> Find() {
    std::vector<GpuWish> wishes;
    for (std::size_t i = 0; i < asked_.size() && plans_ < kPlansMost; ++i) {
      const Asked& asked = asked_[i];
      if (served_.contains(asked.id) || Starts(second_, asked.id) ||
          Try(asked, /*idle=*/true, wishes)) {
        continue;
      }
      if (i == 0 && !claimed_) {
        Try(asked, /*idle=*/false, wishes);
      }
    }
    return wishes;
  }

 private:
  // What earlier cycles asked for, and the GPUs that the plan gives to jobs.
  void NoteTaken(const Snapshot& snapshot) {
    for (const NodeSnapshot& node : snapshot.nodes) {
      for (const GpuLayout& layout : node.gpu_layouts) {
        if (IsInForce(layout, snapshot.now) && layout.phase != LayoutPhase::kFailed) {
          served_.insert(layout.job);
          claimed_ = claimed_ || layout.phase == LayoutPhase::kWanted;
        }
      }
    }
    for (const PlannedStart& start : plan_.starts) {
      for (const NodeAllocation& part : start.allocation.nodes) {
        for (const GpuGrant& grant : part.gpus) {
          started_on_.emplace(part.node, grant.gpu);
        }
      }
    }
  }

  // The jobs that wait for GPUs, in the order of the queue.
  void NoteAsked() {
    std::map<JobId, const WaitingJob*> runs;
    for (const WaitingJob& run : base_.waiting) {
      runs[run.id] = &run;
    }
    for (const LeftWaiting& left : plan_.waiting) {
      order_.emplace(left.job, order_.size());
      const auto after = runs.upper_bound(left.job);
      const WaitingJob* const run = after == runs.begin() ? nullptr : std::prev(after)->second;
      if (run != nullptr && left.job.value() - run->id.value() < run->count && !run->held &&
          run->het_size == 0 && GpusOf(*run) > 0 && WaitsForNodes(left)) {
        requests_.push_back(run->spec);
        asked_.push_back({left.job, &run->spec->request, GpusOf(*run)});
      }
    }
  }

  // For one GPU: the job's own profile first, then those that others wait for.
  [[nodiscard]] std::vector<MigDemand> DemandsOn(const MigGpu& gpu, const Asked& first) const {
    std::vector<MigDemand> demands;
    const auto add = [&](const Asked& asked) {
      const MigProfile* const profile = ProfileFor(gpu, GpuKind(*asked.request));
      if (profile == nullptr) {
        return;
      }
      const auto known = std::find_if(
          demands.begin(), demands.end(),
          [profile](const MigDemand& demand) { return demand.profile == profile->name; });
      MigDemand& demand =
          known == demands.end() ? demands.emplace_back(MigDemand{profile->name, 0}) : *known;
      demand.count = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(profile->instances, demand.count + asked.gpus));
    };
    add(first);
    if (!demands.empty()) {
      for (const Asked& asked : asked_) {
        if (asked.id != first.id && order_.at(asked.id) > order_.at(first.id)) {
          add(asked);
        }
      }
    }
    return demands;
  }

  // How the GPU should be for the job; nothing where it cannot, or is so already.
  [[nodiscard]] std::optional<std::vector<MigInstance>> LayoutOn(const Machine& machine,
                                                                 const MigGpu& gpu,
                                                                 const Asked& asked,
                                                                 const MigClass& kind) const {
    std::optional<std::vector<MigInstance>> instances;
    if (const std::vector<MigDemand> demands = DemandsOn(gpu, asked); !demands.empty()) {
      instances = FindLayout(gpu.profiles, demands, kind.layouts);
    } else if (IsWholeOfKind(gpu, GpuKind(*asked.request))) {
      instances.emplace();
    }
    return instances.has_value() && IsLaidOut(machine, gpu, *instances) ? std::nullopt : instances;
  }

  // When the last job there is to end.
  [[nodiscard]] Time FreeFrom(const NodeSnapshot& node, const std::string& gpu) const {
    Time from = base_.now;
    const std::vector<std::uint32_t> positions = PositionsOf(*node.machine, gpu);
    for (const Holding& holding : node.holdings) {
      if (std::any_of(holding.gpus.begin(), holding.gpus.end(), [&](const GpuGrant& grant) {
            return std::binary_search(positions.begin(), positions.end(), grant.gpu);
          })) {
        from = std::max(from, EndOf(holding, base_.now));
      }
    }
    return from;
  }

  // Whether the GPU may be divided otherwise for a job.
  [[nodiscard]] bool MayChange(const NodeSnapshot& node, const MigGpu& gpu, bool idle) const {
    const std::string& uuid = gpu.whole.uuid;
    const std::vector<std::uint32_t> positions = PositionsOf(*node.machine, uuid);
    return std::none_of(node.gpu_layouts.begin(), node.gpu_layouts.end(),
                        [&](const GpuLayout& layout) {
                          return layout.gpu == uuid && IsInForce(layout, base_.now);
                        }) &&
           std::none_of(positions.begin(), positions.end(),
                        [&](std::uint32_t position) {
                          return started_on_.contains({node.id, position}) ||
                                 IsOccupied(node.gpu_occupants, position);
                        }) &&
           (!idle || IsGpuIdle(*node.machine, node.taken, node.gpu_occupants, uuid));
  }

  // The GPUs of the node that may change: those in parts first, for whole ones serve more; those
  // in use by when they come free.
  [[nodiscard]] std::vector<const MigGpu*> Candidates(const NodeSnapshot& node, bool idle) const {
    std::vector<std::pair<std::pair<Time, bool>, const MigGpu*>> ranked;
    for (const MigGpu& gpu : node.machine->mig) {
      const Time from = FreeFrom(node, gpu.whole.uuid);
      if (from < kHorizon && MayChange(node, gpu, idle)) {
        ranked.push_back({{from, IsLaidOut(*node.machine, gpu, {})}, &gpu});
      }
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const MigGpu*> candidates;
    for (const auto& [rank, gpu] : ranked) {
      candidates.push_back(gpu);
    }
    return candidates;
  }

  // The node with as many of its GPUs divided otherwise as make it take the job's share.
  [[nodiscard]] std::optional<ChangedNode> Change(const NodeSnapshot& node, const Asked& asked,
                                                  const MigClass& kind, bool idle) const {
    const ResourceRequest& request = *asked.request;
    ChangedNode changed{node, {}};
    for (const MigGpu* const gpu : Candidates(node, idle)) {
      const std::optional<std::vector<MigInstance>> instances =
          LayoutOn(*node.machine, *gpu, asked, kind);
      if (!instances.has_value() || !CanKeepPositions(*changed.node.machine, changed.node.taken,
                                                      gpu->whole.uuid, instances->size())) {
        continue;
      }
      if (!idle) {
        changed.node = WithoutUsersOf(std::move(changed.node), gpu->whole.uuid);
        if (!IsGpuIdle(*changed.node.machine, changed.node.taken, {}, gpu->whole.uuid)) {
          continue;  // by an attempt that is not known
        }
      }
      changed.node = Divided(std::move(changed.node), *gpu, *instances);
      GpuLayout layout;
      layout.gpu = gpu->whole.uuid;
      layout.os_index = gpu->whole.os_index;
      layout.instances = *instances;
      layout.phase = idle ? LayoutPhase::kOrdered : LayoutPhase::kWanted;
      layout.since = base_.now;
      changed.layouts.push_back(std::move(layout));
      if (ShortagesOf(changed.node, request).empty()) {
        return changed;
      }
    }
    return std::nullopt;
  }

  // The nodes that could take the job's share if GPUs were divided otherwise: those with the fewest
  // such GPUs first. `able`: how many could as they are.
  std::vector<std::pair<std::size_t, ChangedNode>> ChangedNodes(const Asked& asked, bool idle,
                                                                std::size_t& able) const {
    std::vector<std::pair<std::size_t, ChangedNode>> nodes;
    for (std::size_t i = 0; i < base_.nodes.size(); ++i) {
      const NodeSnapshot& node = base_.nodes[i];
      const MigClass* const kind = node.machine->mig.empty() ? nullptr : classes_.Of(node.name);
      if (!node.up || node.drained || node.ready != kNoTime) {
        continue;
      }
      if (ShortagesOf(node, *asked.request).empty()) {
        ++able;
      } else if (kind != nullptr) {
        if (std::optional<ChangedNode> changed = Change(node, asked, *kind, idle)) {
          nodes.emplace_back(i, *std::move(changed));
        }
      }
    }
    std::stable_sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
      return a.second.layouts.size() < b.second.layouts.size();
    });
    return nodes;
  }

  // Whether the second plan gives the job its start and takes nothing from those before it.
  [[nodiscard]] bool Serves(const Plan& second, JobId job) const {
    const auto place_of = [](const Plan& plan, JobId id) {
      const auto found = std::find_if(
          plan.reservations.begin(), plan.reservations.end(),
          [id](const PlannedReservation& reservation) { return reservation.job == id; });
      return found == plan.reservations.end() ? kNoTime : found->start;
    };
    const auto is_kept = [&](const PlannedReservation& reservation) {
      const auto at = order_.find(reservation.job);
      const Time then = place_of(second, reservation.job);
      return at == order_.end() || at->second >= order_.at(job) ||
             Starts(second, reservation.job) || (then != kNoTime && then <= reservation.start);
    };
    return Starts(second, job) &&
           std::all_of(plan_.starts.begin(), plan_.starts.end(),
                       [&](const PlannedStart& start) { return Starts(second, start.job); }) &&
           std::all_of(plan_.reservations.begin(), plan_.reservations.end(), is_kept);
  }

  // Those of the layouts whose GPUs the job has in the second plan.
  void AddWishes(const Snapshot& divided, const Plan& second, JobId job,
                 const std::map<NodeId, std::vector<GpuLayout>>& layouts,
                 std::vector<GpuWish>& wishes) const {
    const auto start = std::find_if(second.starts.begin(), second.starts.end(),
                                    [job](const PlannedStart& other) { return other.job == job; });
    for (const NodeAllocation& part : start->allocation.nodes) {
      const auto found = layouts.find(part.node);
      const Machine& machine = *divided.nodes[*PositionOf(divided, part.node)].machine;
      for (const GpuLayout& layout :
           found == layouts.end() ? std::vector<GpuLayout>() : found->second) {
        const std::vector<std::uint32_t> positions = PositionsOf(machine, layout.gpu);
        const bool used =
            std::any_of(part.gpus.begin(), part.gpus.end(), [&](const GpuGrant& grant) {
              return std::binary_search(positions.begin(), positions.end(), grant.gpu);
            });
        if (used) {
          wishes.push_back({part.node, layout});
          wishes.back().layout.job = job;
        }
      }
    }
  }

  // True when the job would start; then what it takes is among the wishes.
  bool Try(const Asked& asked, bool idle, std::vector<GpuWish>& wishes) {
    std::size_t able = 0;
    std::vector<std::pair<std::size_t, ChangedNode>> nodes = ChangedNodes(asked, idle, able);
    const std::size_t nodes_asked = std::max(asked.request->min_nodes, 1U);
    const std::size_t least = nodes_asked > able ? nodes_asked - able : 1;
    Snapshot divided = base_;
    std::map<NodeId, std::vector<GpuLayout>> layouts;
    for (std::size_t i = 0; i < nodes.size() && plans_ < kPlansMost; ++i) {
      layouts[nodes[i].second.node.id] = std::move(nodes[i].second.layouts);
      divided.nodes[nodes[i].first] = std::move(nodes[i].second.node);
      if (i + 1 < least) {
        continue;
      }
      ++plans_;
      Plan second = MakePlan(divided, config_);
      if (!Serves(second, asked.id)) {
        continue;
      }
      AddWishes(divided, second, asked.id, layouts, wishes);
      if (idle) {
        base_ = std::move(divided);
        second_ = std::move(second);
      }
      return true;
    }
    return false;
  }

  const SchedulerConfig& config_;
  const MigClasses classes_;
  Snapshot base_;     // with what was asked for so far
  const Plan& plan_;  // the first one
  Plan second_;       // the newest of those that served
  int plans_ = 0;
  bool claimed_ = false;  // GPUs in use are wanted already
  std::set<JobId> served_;
  std::set<std::pair<NodeId, std::uint32_t>> started_on_;
  std::map<JobId, std::size_t> order_;
  std::vector<std::shared_ptr<const JobSpec>> requests_;  // which `asked_` points into
  std::vector<Asked> asked_;
};

}  // namespace

std::vector<GpuWish> GpusWanted(const Snapshot& snapshot, const Plan& plan,
                                const SchedulerConfig& config) {
  const bool any = !config.mig.empty() && !plan.waiting.empty() &&
                   std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(),
                               [](const NodeSnapshot& node) { return !node.machine->mig.empty(); });
  return any ? DivisionSearch(snapshot, plan, config).Find() : std::vector<GpuWish>();
}

}  // namespace muster::core
