#pragma once

// One source for CUDA and HIP: the few names in which the two differ, and nothing else.
//
// GPU(Malloc) is cudaMalloc or hipMalloc. Device code asks for the width of a warp (32, on CDNA 64)
// at run time, so that one reduction serves both. Thread promise: as the runtime's. Invariant: no
// call of the runtime goes unchecked (see device.h).

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#else
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#endif

#include <cstddef>
#include <cstdint>

namespace muster::kernels {

#if defined(__HIPCC__)
constexpr const char* kRuntimeName = "HIP";
using DeviceProperties = hipDeviceProp_t;

inline hipError_t AllocatePinned(void** out, size_t bytes) {
  return hipHostMalloc(out, bytes, hipHostMallocDefault);
}
inline hipError_t FreePinned(void* data) {
  return hipHostFree(data);
}
inline hipError_t MakeExecutable(hipGraphExec_t* out, hipGraph_t graph) {
  return hipGraphInstantiate(out, graph, nullptr, nullptr, 0);
}
template <class T>
__device__ inline T FromLaneBelow(T value, int distance) {
  return __shfl_down(value, distance);
}
#else
constexpr const char* kRuntimeName = "CUDA";
using DeviceProperties = cudaDeviceProp;

inline cudaError_t AllocatePinned(void** out, size_t bytes) {
  return cudaMallocHost(out, bytes);
}
inline cudaError_t FreePinned(void* data) {
  return cudaFreeHost(data);
}
inline cudaError_t MakeExecutable(cudaGraphExec_t* out, cudaGraph_t graph) {
  return cudaGraphInstantiate(out, graph, 0);
}
template <class T>
__device__ inline T FromLaneBelow(T value, int distance) {
  return __shfl_down_sync(0xffffffffU, value, static_cast<unsigned>(distance));
}
#endif

// What one thread of each warp gets is the sum over the warp; all of its threads call.
template <class T>
__device__ inline T WarpSum(T value) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    value += FromLaneBelow(value, distance);
  }
  return value;
}

// The sum over the block, on every thread; all threads call. `shared` has room for one element a
// warp (32 at most) and is free again when the function returns. Blocks are whole warps.
template <class T>
__device__ inline T BlockSum(T value, T* shared) {
  const int thread = static_cast<int>(threadIdx.x);
  const int warps = static_cast<int>(blockDim.x) / warpSize;
  value = WarpSum(value);
  if (thread % warpSize == 0) {
    shared[thread / warpSize] = value;
  }
  __syncthreads();
  if (thread < warpSize) {
    value = WarpSum(thread < warps ? shared[thread] : T{0});
    if (thread == 0) {
      shared[0] = value;
    }
  }
  __syncthreads();
  value = shared[0];
  __syncthreads();
  return value;
}

}  // namespace muster::kernels
