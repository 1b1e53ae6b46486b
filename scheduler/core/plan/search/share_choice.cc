#include "scheduler/core/plan/search/share_choice.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

constexpr std::uint32_t kModelsMost = 64;   // that a PackingClass can name
constexpr std::size_t kNodesCompared = 64;  // for one job
constexpr std::uint32_t kMilli = 1000;

bool NeedsOneShare(const ResourceRequest& request) {
  return request.max_nodes == 1 && (request.tasks == 1 || request.gpus_per_node.count > 0);
}

// Cores near the GPU that nobody has; all of the node's where the machine does not say.
std::uint32_t CoresBeside(const NodeSnapshot& node_snapshot, std::uint32_t gpu) {
  const Machine& machine = *node_snapshot.machine;
  const std::uint32_t numa = machine.gpus[gpu].numa;
  return static_cast<std::uint32_t>(
      std::count_if(machine.cores.begin(), machine.cores.end(), [&](const Core& core) {
        return (numa == kNowhere || core.numa == numa) &&
               !node_snapshot.taken.cpus.Meets(core.cpus);
      }));
}

}  // namespace

Time ShareChoice::LastEnd(std::uint32_t node, std::uint32_t gpu) const {
  const auto started = started_.find({node, gpu});
  Time last = started == started_.end() ? snapshot_.now : started->second;
  for (const Holding& holding : snapshot_.nodes[node].holdings) {
    const bool uses = std::any_of(holding.gpus.begin(), holding.gpus.end(),
                                  [gpu](const GpuGrant& grant) { return grant.gpu == gpu; });
    last = uses ? std::max(last, EndOf(holding, snapshot_.now)) : last;
  }
  return last;
}

NodeSnapshot ShareChoice::Visible(const Need& need, std::uint32_t node,
                                  const NodeSnapshot& node_snapshot) const {
  NodeSnapshot visible =
      HidesGpus(node_snapshot, *need.request) ? WithoutOccupied(node_snapshot) : node_snapshot;
  const Machine& machine = *node_snapshot.machine;
  visible.taken.gpus.resize(std::max(visible.taken.gpus.size(), machine.gpus.size()));
  const NodeCapacity& capacity = availability_.inventory().capacity(node);
  const NodeTimeline& timeline = availability_.timeline(node);
  const Time end = NeededUntil(snapshot_.now, need.duration);
  std::array<std::uint32_t, kGpuModels> broken{};  // whole GPUs that the job may use up
  for (std::uint32_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    GpuShare& taken = visible.taken.gpus[gpu];
    if (!IsOfKind(machine.gpus[gpu], GpuKind(*need.request)) ||
        FreeShare(visible, gpu) < need.request->gpu_share) {
      continue;
    }
    const Time from = taken.zero() ? snapshot_.now : LastEnd(node, gpu);
    if (from >= end) {
      continue;
    }
    const std::size_t model = GpuModelOf(capacity, machine, gpu);
    if (timeline.Least(from, end).gpus[model] > broken[model]) {
      ++broken[model];
    } else {
      taken = kWholeGpu;
    }
  }
  return visible;
}

std::optional<ShareChoice::Place> ShareChoice::Choose(const Need& need,
                                                      const SnapshotOf& snapshot_of) {
  const ResourceRequest& request = *need.request;
  if (!NeedsOneShare(request)) {
    return std::nullopt;
  }
  const PackingMix& mix = Mix();
  std::optional<Place> best;
  std::tuple<bool, std::int64_t> least;
  for (const std::uint32_t node : availability_.WithRoomNow(need, kNodesCompared)) {
    const NodeSnapshot visible = Visible(need, node, snapshot_of(node));
    const Machine& machine = *visible.machine;
    const std::uint32_t cores = CoresPerTask(machine, request) * request.tasks;
    const PackingClass job{cores * kMilli, 1, request.gpu_share.value(), ~0ULL, 0};
    for (std::uint32_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
      if (!IsOfKind(machine.gpus[gpu], GpuKind(request)) ||
          FreeShare(visible, gpu) < request.gpu_share) {
        continue;
      }
      const PackingRoom room = RoomOf(NumberOf(machine.gpus[gpu]), visible);
      const std::tuple its{CoresBeside(visible, gpu) < cores, CostOn(room, job, mix, gpu)};
      if (!best.has_value() || its < least) {
        best = Place{node, gpu};
        least = its;
      }
    }
  }
  return best;
}

void ShareChoice::Start(const Need& need, const Opening& opening, const Allocation& allocation,
                        const SnapshotOf& snapshot_of) {
  const Time end = NeededUntil(snapshot_.now, need.duration);
  for (std::size_t i = 0; i < opening.shares.size(); ++i) {
    const std::uint32_t node = opening.shares[i].node;
    const NodeSnapshot& node_snapshot = snapshot_of(node);
    for (const GpuGrant& grant : allocation.nodes[i].gpus) {
      const bool fresh = FreeShare(node_snapshot, grant.gpu) == kWholeGpu;
      const Time from = fresh ? snapshot_.now : LastEnd(node, grant.gpu);
      if (from < end) {
        availability_.BreakGpu(
            node,
            GpuModelOf(availability_.inventory().capacity(node), *node_snapshot.machine, grant.gpu),
            from, end);
      }
      Time& last = started_[{node, grant.gpu}];
      last = std::max(last, end);
    }
  }
}

std::uint32_t ShareChoice::NumberOf(const Gpu& gpu) {
  const auto next = static_cast<std::uint32_t>(models_.size());
  return std::min(models_.emplace(std::pair(gpu.model, gpu.memory), next).first->second,
                  kModelsMost - 1);
}

PackingRoom ShareChoice::RoomOf(std::uint32_t model, const NodeSnapshot& node_snapshot) const {
  PackingRoom room;
  room.cpu_milli = FreeCores(node_snapshot) * kMilli;
  room.model = model;
  for (std::size_t gpu = 0; gpu < node_snapshot.machine->gpus.size(); ++gpu) {
    room.gpus.push_back(FreeShare(node_snapshot, gpu).value());
  }
  return room;
}

const PackingMix& ShareChoice::Mix() {
  if (mix_.has_value()) {
    return *mix_;
  }
  for (const NodeSnapshot& node : snapshot_.nodes) {
    for (const Gpu& gpu : node.machine->gpus) {
      NumberOf(gpu);
    }
  }
  std::vector<PackingClass> classes;
  for (const WaitingJob& job : snapshot_.waiting) {
    AddClass(*job.spec, job.count, classes);
  }
  for (const RunningJob& job : snapshot_.running) {
    AddClass(*job.spec, 1, classes);
  }
  return mix_.emplace(std::move(classes));
}

void ShareChoice::AddClass(const JobSpec& spec, std::uint64_t count,
                           std::vector<PackingClass>& classes) {
  const ResourceRequest& request = spec.request;
  PackingClass one;
  const std::uint32_t tasks = request.gpus_per_node.count > 0
                                  ? (request.tasks + request.min_nodes - 1) / request.min_nodes
                                  : 1;
  one.cpu_milli = request.cpus_per_task * tasks * kMilli;
  one.gpus = request.gpus_per_node.count + request.gpus_per_task.count;
  one.gpu_milli = request.gpu_share.zero() ? kWholeGpu.value() : request.gpu_share.value();
  one.models = 0;
  for (const auto& [model, number] : models_) {
    one.models |= IsOfKind(model.first, model.second, GpuKind(request)) && number < kModelsMost
                      ? std::uint64_t{1} << number
                      : 0;
  }
  one.count = count * (request.tasks / std::max(tasks, 1U));
  const auto same = std::find_if(classes.begin(), classes.end(), [&one](const PackingClass& other) {
    return other.cpu_milli == one.cpu_milli && other.gpus == one.gpus &&
           other.gpu_milli == one.gpu_milli && other.models == one.models;
  });
  if (same != classes.end()) {
    same->count += one.count;
  } else {
    classes.push_back(one);
  }
}

}  // namespace muster::core
