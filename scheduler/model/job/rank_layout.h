#pragma once

// What a job asks of its ranks beyond their number: how they are dealt to nodes and sockets, what
// each is bound to, and which of them belong together.
//
// The words are Slurm's. Invariants: (1) zero means "not given"; (2) the lists are empty but for
// the kinds that have one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/index_set.h"

namespace muster {

// --distribution, for the nodes and for a node's sockets.
enum class Dealing : std::uint8_t {
  kUnsaid = 0,
  kBlock = 1,    // neighbours together
  kCyclic = 2,   // round by round
  kPlane = 3,    // over nodes: round by round, in blocks of one size
  kFcyclic = 4,  // over sockets: also the cores of each rank
};

// --cpu-bind: what of the job's hardware threads on its node a rank may run on.
enum class CpuBind : std::uint8_t {
  kUnsaid = 0,    // its own cores
  kNone = 1,      // all
  kThreads = 2,   // as many threads of its cores as it asked for
  kCores = 3,     // its own cores
  kSockets = 4,   // those of the sockets where it has cores
  kLdoms = 5,     // those of the NUMA nodes where it has cores
  kRankLdom = 6,  // those of one NUMA node, by its number on the node
  kMapCpu = 7,    // those of the list, by its number on the node
  kMaskCpu = 8,
};

// --mem-bind: the memory nodes that a rank's memory comes from.
enum class MemBind : std::uint8_t {
  kUnsaid = 0,  // those beside its cores
  kNone = 1,    // any
  kLocal = 2,   // those beside its cores
  kRank = 3,    // one, by its number on the node
  kMapMem = 4,  // those of the list, by its number on the node
  kMaskMem = 5,
};

// --gpu-bind: which of the job's GPUs on its node a rank can see. Unsaid: all, its own first.
enum class GpuBind : std::uint8_t {
  kUnsaid = 0,
  kNone = 1,     // all, its own first
  kClosest = 2,  // those on the NUMA nodes of its cores
  kPerTask = 3,  // that many for each rank, of its own
  kSingle = 4,   // one, that that many ranks share
  kMapGpu = 5,   // that of the list, by its number on the node
  kMaskGpu = 6,
};

// --parallel: groups of ranks. Tensor, context, pipeline and data multiply to the number of ranks;
// expert and shard cut the data-parallel ranks into blocks of neighbours, one within the other.
struct ParallelGroups {
  std::uint32_t tensor = 1;    // tp
  std::uint32_t pipeline = 1;  // pp
  std::uint32_t data = 1;      // dp
  std::uint32_t context = 1;   // cp
  std::uint32_t expert = 1;    // ep: replicas that share their experts among them
  std::uint32_t shard = 1;     // replicas that share one copy of the weights (hybrid sharding)
  static constexpr auto Fields(auto list) {
    return list(Field{"tensor", &ParallelGroups::tensor},
                Field{"pipeline", &ParallelGroups::pipeline}, Field{"data", &ParallelGroups::data},
                Field{"context", &ParallelGroups::context},
                Field{"expert", &ParallelGroups::expert}, Field{"shard", &ParallelGroups::shard});
  }
  friend bool operator==(const ParallelGroups&, const ParallelGroups&) = default;
};

struct RankLayout {
  Dealing nodes = Dealing::kUnsaid;
  std::uint32_t plane = 0;
  Dealing sockets = Dealing::kUnsaid;
  CpuBind cpu_bind = CpuBind::kUnsaid;
  std::vector<CpuSet> cpu_list = {};
  MemBind mem_bind = MemBind::kUnsaid;
  std::vector<NumaSet> mem_list = {};
  std::uint32_t cores_per_socket = 0;  // at the least
  ParallelGroups parallel = {};
  std::uint32_t tasks_per_socket = 0;  // at the most
  std::uint32_t threads_per_core = 0;  // that a task counts as its own; cores are given whole
  GpuBind gpu_bind = GpuBind::kUnsaid;
  std::uint32_t gpu_bind_count = 0;      // of kPerTask and kSingle
  std::vector<GpuSet> gpu_list = {};     // of the job's GPUs on the node, from 0
  std::vector<std::uint32_t> grid = {};  // --grid: its sizes, which multiply to the ranks
  static constexpr auto Fields(auto list) {
    return list(Field{"nodes", &RankLayout::nodes}, Field{"plane", &RankLayout::plane},
                Field{"sockets", &RankLayout::sockets}, Field{"cpu_bind", &RankLayout::cpu_bind},
                Field{"cpu_list", &RankLayout::cpu_list}, Field{"mem_bind", &RankLayout::mem_bind},
                Field{"mem_list", &RankLayout::mem_list},
                Field{"cores_per_socket", &RankLayout::cores_per_socket},
                Field{"parallel", &RankLayout::parallel},
                Field{"tasks_per_socket", &RankLayout::tasks_per_socket},
                Field{"threads_per_core", &RankLayout::threads_per_core},
                Field{"gpu_bind", &RankLayout::gpu_bind},
                Field{"gpu_bind_count", &RankLayout::gpu_bind_count},
                Field{"gpu_list", &RankLayout::gpu_list}, Field{"grid", &RankLayout::grid});
  }
  friend bool operator==(const RankLayout&, const RankLayout&) = default;
};

// How many ranks the grid has: 0 where there is none, 2^32 for all that are more.
inline std::uint64_t RanksOfGrid(const std::vector<std::uint32_t>& sizes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32U;
  std::uint64_t ranks = sizes.empty() ? 0 : 1;
  for (const std::uint32_t size : sizes) {
    ranks = std::min(ranks * size, kMost);
  }
  return ranks;
}

// Where the rank is on the grid, in each dimension: row by row, the last the fastest, as
// MPI_Cart_create numbers them.
inline std::vector<std::uint32_t> GridCoordinates(const std::vector<std::uint32_t>& sizes,
                                                  std::uint32_t rank) {
  std::vector<std::uint32_t> at(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    at[i] = rank % sizes[i];
    rank /= sizes[i];
  }
  return at;
}

// How many ranks the groups have; 0 while dp is not known, 2^32 for all that are more. Here and
// below a size that is 0, as in the journals of older versions, counts as 1, but for dp.
inline std::uint64_t RanksOfGroups(const ParallelGroups& groups) {
  return RanksOfGrid({std::max(groups.tensor, 1U), std::max(groups.context, 1U),
                      std::max(groups.pipeline, 1U), groups.data});
}

// Replicas that lie side by side: a block of expert parallelism or of one copy of the weights,
// whichever is larger (the other one lies within it).
inline std::uint32_t ReplicasTogether(const ParallelGroups& groups) {
  return std::max({groups.expert, groups.shard, 1U});
}

// The number of the rank at a place. Places are counted so that those beside one another are near,
// and go to who exchanges most: tensor-parallel ranks fastest, then context, then the replicas of a
// block, then a pipeline's stages, then the blocks. Numbers are those of Megatron-LM (D. Narayanan
// et al., SC 2021; its order "tp-cp-ep-dp-pp") and DeepSpeed: tensor fastest, then context, data,
// pipeline. REQUIRES: place < RanksOfGroups.
inline std::uint32_t RankOfGroups(const ParallelGroups& groups, std::uint32_t place) {
  const auto take = [&place](std::uint32_t size) {
    const std::uint32_t at = place % std::max(size, 1U);
    place /= std::max(size, 1U);
    return at;
  };
  const std::uint32_t together = ReplicasTogether(groups);
  const std::uint32_t tensor = take(groups.tensor);
  const std::uint32_t context = take(groups.context);
  const std::uint32_t replica = take(together);
  const std::uint32_t stage = take(groups.pipeline);
  const std::uint32_t data = replica + together * place;
  return tensor + std::max(groups.tensor, 1U) *
                      (context + std::max(groups.context, 1U) * (data + groups.data * stage));
}

}  // namespace muster
