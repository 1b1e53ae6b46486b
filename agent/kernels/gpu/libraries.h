#pragma once

// The libraries that a node may have: a BLAS and a collective library, found when the program runs,
// so that it starts without them.
//
// Thread promise: one thread. Invariant: a library that is found has every function that is used
// here; a call that fails ends the program with one line, like a failed call of the runtime.

#include <string>
#include <vector>

#include "agent/kernels/gpu/portability.h"

namespace muster::kernels {

// cuBLAS or hipBLAS.
class Blas {
 public:
  Blas();
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  bool found() const { return handle_ != nullptr; }

  // c = a * b of square row-major matrices in device memory, in single precision proper (no
  // TensorFloat-32, which would be another arithmetic).
  void Multiply(int side, const float* a, const float* b, float* c, GPU(Stream_t) stream) const;

 private:
  void* library_ = nullptr;
  void* handle_ = nullptr;
};

// NCCL or RCCL with one communicator for each of this node's GPUs.
class Collectives {
 public:
  explicit Collectives(int devices);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  bool found() const { return !communicators_.empty(); }

  // out[d] = the sum over all devices of in[d], `count` floats each, on each device's stream.
  void AllReduce(const std::vector<float*>& in, const std::vector<float*>& out, size_t count,
                 const std::vector<GPU(Stream_t)>& streams) const;

 private:
  void* library_ = nullptr;
  std::vector<void*> communicators_;
};

}  // namespace muster::kernels
