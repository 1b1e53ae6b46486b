#pragma once

// How ranks are to be laid out: --distribution, --cpu-bind, --mem-bind, --gpu-bind, --hint and
// --parallel.
//
// The words are Slurm's, but for --parallel: "tp=8,pp=4,dp=2". Pure; errors as in number.h.
// Invariants: a refused text leaves the layout as it was.

#include <string>

#include "absl/status/status.h"
#include "scheduler/model/job/rank_layout.h"

namespace muster::cli {

// block, cyclic, plane=N or *, for the nodes; after a colon block, cyclic, fcyclic or * for
// sockets.
absl::Status ParseDistribution(const std::string& text, RankLayout* layout);
// none, threads, cores, sockets, ldoms, rank_ldom, map_cpu:LIST or mask_cpu:LIST.
absl::Status ParseCpuBind(const std::string& text, RankLayout* layout);
// none, local, rank, map_mem:LIST or mask_mem:LIST.
absl::Status ParseMemBind(const std::string& text, RankLayout* layout);
// none, closest, single[:N], per_task:N, map_gpu:LIST or mask_gpu:LIST, perhaps after "verbose,".
absl::Status ParseGpuBind(const std::string& text, RankLayout* layout);
// compute_bound, memory_bound, multithread, nomultithread; what --cpu-bind, --ntasks-per-socket and
// --threads-per-core say goes before it.
absl::Status ParseHint(const std::string& text, RankLayout* layout);
// Any of tp, pp and dp, each once; those that are not given are 0.
absl::Status ParseParallel(const std::string& text, RankLayout* layout);
// 4x2x2: the sizes of a grid.
absl::Status ParseGrid(const std::string& text, RankLayout* layout);

}  // namespace muster::cli
