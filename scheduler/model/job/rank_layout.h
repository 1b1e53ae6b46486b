#pragma once

// What a job asks of its ranks beyond their number: how they are dealt to nodes and sockets, what
// each is bound to, and which of them belong together.
//
// The words are Slurm's. Invariants: (1) zero means "not given"; (2) the lists are empty but for
// the kinds that have one.

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

// --parallel: groups of ranks. Their product is the number of ranks.
struct ParallelGroups {
  std::uint32_t tensor = 1;    // tp
  std::uint32_t pipeline = 1;  // pp
  std::uint32_t data = 1;      // dp
  static constexpr auto Fields(auto list) {
    return list(Field{"tensor", &ParallelGroups::tensor},
                Field{"pipeline", &ParallelGroups::pipeline}, Field{"data", &ParallelGroups::data});
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

}  // namespace muster
