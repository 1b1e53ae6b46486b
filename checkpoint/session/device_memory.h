#pragma once

// Memory of a GPU, as a region of a checkpoint: copied to the host's memory to be written, and
// back.
//
// By CUDA's driver interface, which the program itself has loaded; nothing of CUDA is needed to
// build this. The copies are done in the calling thread's current context, which is the program's.
// Thread promise: one thread at a time. Invariants: none of the GPU's memory is kept or freed here.

#include <cstdint>
#include <functional>

#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

// Memory that the processor does not reach. Each copies all of it; what went wrong is the answer.
struct Elsewhere {
  std::function<Error(void* host)> fetch;
  std::function<Error(const void* host)> put;
};

// `device` is an address that cuMemAlloc, cudaMalloc or a framework gave. kSystem: there is no
// CUDA driver here. $MUSTER_CHECKPOINT_CUDA names another library than libcuda.so.1.
Result<Elsewhere> CudaMemory(void* device, std::uint64_t size);

}  // namespace muster::checkpoint
