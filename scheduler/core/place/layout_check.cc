#include "scheduler/core/place/layout_check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/status.h"

namespace muster::core {
namespace {

constexpr std::uint32_t kRanksMost = 1U << 20;
constexpr std::size_t kDimensionsMost = 8;

absl::Status BadGrid(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("--grid: ", why));
}

// By itself, and beside what else would number the ranks.
absl::Status CheckGrid(const RankLayout& layout) {
  if (layout.grid.empty()) {
    return absl::OkStatus();
  }
  if (layout.grid.size() > kDimensionsMost || RanksOfGrid(layout.grid) > kRanksMost ||
      RanksOfGrid(layout.grid) == 0) {
    return BadGrid(absl::StrCat("1 to ", kDimensionsMost, " sizes from 1 on, and at most ",
                                kRanksMost, " ranks"));
  }
  ParallelGroups groups = layout.parallel;
  groups.data = std::max(groups.data, 1U);
  if (groups != ParallelGroups() || layout.nodes > Dealing::kBlock) {
    return BadGrid("numbers the ranks, as --parallel and --distribution do; give one of them");
  }
  return absl::OkStatus();
}

absl::Status CompleteGrid(const ResourceRequest& request) {
  const std::vector<std::uint32_t>& grid = request.layout->grid;
  if (grid.empty() || (RanksOfGrid(grid) == request.tasks && !request.as_wide_as_fits)) {
    return absl::OkStatus();
  }
  if (request.as_wide_as_fits) {
    return BadGrid("needs a number of tasks; say --ntasks");
  }
  return BadGrid(absl::StrCat(absl::StrJoin(grid, "x"), " are ", RanksOfGrid(grid),
                              " ranks, the job has ", request.tasks,
                              ": say --ntasks=", RanksOfGrid(grid)));
}

absl::Status CheckLists(const ResourceRequest& request) {
  const RankLayout& layout = *request.layout;
  const bool cpus = layout.cpu_bind == CpuBind::kMapCpu || layout.cpu_bind == CpuBind::kMaskCpu;
  const bool memory = layout.mem_bind == MemBind::kMapMem || layout.mem_bind == MemBind::kMaskMem;
  if (cpus != !layout.cpu_list.empty() || memory != !layout.mem_list.empty()) {
    return absl::InvalidArgumentError("--cpu-bind: a list is there without its kind, or missing");
  }
  if ((cpus || memory) && !request.exclusive) {
    return absl::InvalidArgumentError(
        absl::StrCat(cpus ? "--cpu-bind" : "--mem-bind",
                     ": numbers of CPUs and memory nodes need whole nodes; add --exclusive"));
  }
  if (layout.nodes == Dealing::kPlane && layout.plane == 0) {
    return absl::InvalidArgumentError("--distribution: plane needs a size, like plane=4");
  }
  return absl::OkStatus();
}

absl::Status BadGroups(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("--parallel: ", why));
}

ParallelGroups OneReplica(ParallelGroups groups) {
  groups.data = 1;
  return groups;
}

// "tp=8 x pp=4", with cp where it is said: one replica.
std::string SizesOf(const ParallelGroups& groups) {
  return absl::StrCat("tp=", groups.tensor,
                      groups.context > 1 ? absl::StrCat(" x cp=", groups.context) : "",
                      " x pp=", groups.pipeline);
}

// The blocks of replicas lie within the replicas, and one within the other.
absl::Status CheckBlocks(const ParallelGroups& groups) {
  for (const auto& [name, size] : {std::pair("ep", groups.expert), {"shard", groups.shard}}) {
    if (groups.data % size != 0) {
      return BadGroups(
          absl::StrCat(name, "=", size, " does not divide the dp=", groups.data, " replicas"));
    }
  }
  if (ReplicasTogether(groups) % std::min(groups.expert, groups.shard) != 0) {
    return BadGroups(absl::StrCat("of ep=", groups.expert, " and shard=", groups.shard,
                                  " one must divide the other"));
  }
  return absl::OkStatus();
}

// The most of the job's GPUs that one node has; 0 when it has none.
std::uint32_t MostGpusOnNode(const ResourceRequest& request) {
  const std::uint32_t tasks = request.tasks_per_node > 0 ? request.tasks_per_node : request.tasks;
  return request.gpus_per_node.count + request.gpus_per_task.count * tasks;
}

absl::Status BadGpuBind(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("--gpu-bind: ", why));
}

}  // namespace

absl::Status BeginLayout(ResourceRequest& request) {
  if (!request.layout.has_value()) {
    return absl::OkStatus();
  }
  ParallelGroups& groups = request.layout->parallel;
  for (std::uint32_t* size :
       {&groups.tensor, &groups.context, &groups.pipeline, &groups.expert, &groups.shard}) {
    *size = std::max(*size, 1U);
  }
  if (std::max(RanksOfGroups(groups), RanksOfGroups(OneReplica(groups))) > kRanksMost) {
    return BadGroups(absl::StrCat("more than ", kRanksMost, " ranks"));
  }
  RETURN_IF_ERROR(CheckGrid(*request.layout));
  if (request.tasks == 0 && request.tasks_per_node == 0) {
    const std::uint64_t ranks = RanksOfGroups(groups);
    request.tasks =
        static_cast<std::uint32_t>(ranks > 1 ? ranks : RanksOfGrid(request.layout->grid));
  }
  return CheckLists(request);
}

absl::Status CompleteLayout(ResourceRequest& request) {
  if (!request.layout.has_value()) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CompleteGrid(request));
  ParallelGroups& groups = request.layout->parallel;
  const std::uint32_t tasks = request.tasks;
  if (request.as_wide_as_fits && groups != ParallelGroups{1, 1, 0} && groups != ParallelGroups()) {
    return BadGroups("needs a number of tasks; say --ntasks");
  }
  if (tasks % groups.tensor != 0) {
    return BadGroups(absl::StrCat("tp=", groups.tensor, " does not divide the ", tasks, " ranks"));
  }
  if (groups.data == 0) {
    const std::uint64_t each = RanksOfGroups(OneReplica(groups));
    if (tasks % each != 0) {
      return BadGroups(absl::StrCat(SizesOf(groups), " do not divide the ", tasks, " ranks"));
    }
    groups.data = static_cast<std::uint32_t>(tasks / each);
  }
  if (groups != ParallelGroups() && RanksOfGroups(groups) != tasks) {
    return BadGroups(absl::StrCat(SizesOf(groups), " x dp=", groups.data, " are ",
                                  RanksOfGroups(groups), " ranks, the job has ", tasks,
                                  ": say --ntasks=", RanksOfGroups(groups)));
  }
  return CheckBlocks(groups);
}

absl::Status CheckGpuBind(const ResourceRequest& request) {
  if (!request.layout.has_value() || request.layout->gpu_bind <= GpuBind::kNone) {
    return absl::OkStatus();
  }
  const RankLayout& layout = *request.layout;
  const std::uint32_t most = MostGpusOnNode(request);
  if (most == 0) {
    return BadGpuBind("the job asks for no GPUs; add --gpus-per-task or --gpus-per-node");
  }
  const bool listed = layout.gpu_bind == GpuBind::kMapGpu || layout.gpu_bind == GpuBind::kMaskGpu;
  if (listed != !layout.gpu_list.empty()) {
    return BadGpuBind("a list is there without its kind, or missing");
  }
  for (const GpuSet& set : layout.gpu_list) {
    for (const std::uint32_t number : set.Members()) {
      if (number >= most) {
        return BadGpuBind(absl::StrCat("GPU ", number, ", but a node has at most ", most,
                                       " of the job's, counted from 0"));
      }
    }
  }
  if (layout.gpu_bind != GpuBind::kPerTask) {
    return absl::OkStatus();
  }
  const std::uint32_t each = layout.gpu_bind_count;
  const std::uint32_t nodes = std::max(request.min_nodes, 1U);
  const std::uint32_t tasks =
      request.tasks_per_node > 0 ? request.tasks_per_node : (request.tasks + nodes - 1) / nodes;
  const std::uint32_t has = request.gpus_per_task.count > 0
                                ? request.gpus_per_task.count
                                : request.gpus_per_node.count / std::max(tasks, 1U);
  return each == 0 || each > has
             ? BadGpuBind(
                   absl::StrCat("per_task:", each, ", but each task has ", has, " of its own"))
             : absl::OkStatus();
}

}  // namespace muster::core
