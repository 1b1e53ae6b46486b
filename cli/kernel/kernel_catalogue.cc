#include "cli/kernel/kernel_catalogue.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::array<BundledKernel, 23> kKernels = {{
    {"stream", "stream", "", KernelNeeds::kNode,
     "memory bandwidth: copy, scale, add, triad, in all and per NUMA node"},
    {"vector-add", "vector-add", "", KernelNeeds::kNode, "c = a + b, two streams in, one out"},
    {"saxpy", "saxpy", "", KernelNeeds::kNode, "y = y + a*x in place, single and double"},
    {"reduction", "reduction", "", KernelNeeds::kNode,
     "sum and sum of squares: the bandwidth of reading"},
    {"gemm", "gemm", "", KernelNeeds::kNode, "single-precision matrix product: the arithmetic"},
    {"norm-gelu", "norm-gelu", "", KernelNeeds::kNode,
     "layer norm, GELU and scale, fused beside three passes"},
    {"pointer-chase", "pointer-chase", "", KernelNeeds::kNode,
     "latency of memory for each pair of NUMA nodes"},
    {"health", "health", "", KernelNeeds::kNode,
     "what muster health asks for: clock, memory, arithmetic, GPUs, error counters"},
    {"heat2d", "heat2d", "", KernelNeeds::kNode,
     "heat diffusion by MPI ranks and threads, halos during the work"},
    {"pingpong", "pingpong", "", KernelNeeds::kRanks,
     "latency and bandwidth of messages between two ranks"},
    {"allreduce", "allreduce", "", KernelNeeds::kRanks,
     "sum over all ranks: ring, recursive doubling, library, overlapped"},
    {"nccl", "nccl", "", KernelNeeds::kRanks,
     "all-reduce of the ranks' GPUs by NCCL or RCCL, in all and of each two"},
    {"allgather", "allgather", "", KernelNeeds::kRanks, "every rank's part to all: ring, library"},
    {"alltoall", "alltoall", "", KernelNeeds::kRanks, "all parts to all ranks: pairs, library"},
    {"halo", "halo", "", KernelNeeds::kRanks, "edges of tiles, alone and during the work"},
    {"gpu", "gpu", "", KernelNeeds::kGpu, "all of the gpu kernels below"},
    {"gpu-vectors", "gpu", "vectors", KernelNeeds::kGpu,
     "copy, vector add, saxpy, triad beside the runtime's copy"},
    {"gpu-reductions", "gpu", "reductions", KernelNeeds::kGpu, "sum and sum of squares by warps"},
    {"gpu-gemm", "gpu", "gemm", KernelNeeds::kGpu, "tiled matrix product beside the library's"},
    {"gpu-norm-gelu", "gpu", "norm-gelu", KernelNeeds::kGpu, "fused layer beside three passes"},
    {"gpu-transfers", "gpu", "transfers", KernelNeeds::kGpu, "pinned, pageable and peer copies"},
    {"gpu-launches", "gpu", "launches", KernelNeeds::kGpu,
     "what a launch costs, alone and in a graph"},
    {"gpu-all-reduce", "gpu", "all-reduce", KernelNeeds::kGpu,
     "bus bandwidth of NCCL or RCCL over all GPUs"},
}};

const char* Cure(KernelNeeds needs) {
  switch (needs) {
    case KernelNeeds::kNode:
      return "install muster's kernels beside it, or set MUSTER_KERNELS";
    case KernelNeeds::kRanks:
      return "build with MPI (libopenmpi-dev), or set MUSTER_KERNELS";
    case KernelNeeds::kGpu:
      return "build with CUDA or HIP (MUSTER_GPU_KERNELS), or set MUSTER_KERNELS";
  }
  return "";
}

}  // namespace

std::span<const BundledKernel> BundledKernels() {
  return kKernels;
}

absl::StatusOr<BundledKernel> FindKernel(const std::string& name) {
  const auto* found = std::find_if(kKernels.begin(), kKernels.end(),
                                   [&](const BundledKernel& each) { return name == each.name; });
  if (found == kKernels.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(name), " is not a kernel: see muster kernel list"));
  }
  return *found;
}

std::string KernelDirectory(const Environment& environment) {
  std::string given = environment.Get("MUSTER_KERNELS");
  if (!given.empty()) {
    return given;
  }
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path().parent_path() / "libexec/muster/kernels").string();
}

absl::StatusOr<std::string> KernelProgram(const BundledKernel& kernel,
                                          const Environment& environment) {
  const std::string path = absl::StrCat(KernelDirectory(environment), "/", kernel.program);
  if (access(path.c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(path, ": not there: ", Cure(kernel.needs)));
  }
  return path;
}

const char* ToText(KernelNeeds needs) {
  switch (needs) {
    case KernelNeeds::kNode:
      return "a node";
    case KernelNeeds::kRanks:
      return "2 MPI ranks";
    case KernelNeeds::kGpu:
      return "a GPU";
  }
  return "";
}

}  // namespace muster::cli
