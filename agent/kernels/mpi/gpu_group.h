#pragma once

// The collective library of the GPUs, NCCL or RCCL, over the ranks of an MPI communicator, a GPU
// each.
//
// The library is looked for when the program runs; the ranks find one another by the id that the
// first one makes and MPI hands on. Thread promise: the thread that speaks MPI. Invariants: a rank
// uses the GPU that DeviceBuffer::Make gave it; a call of the library that fails is told, and
// nothing is measured after it.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

namespace muster::kernels {

// Empty when this process finds such a library; else which it looked for.
std::string WhyNoGpuCollectives();

class GpuGroup {
 public:
  // Collective over `comm`. Null, with what the library says, where it fails on this rank.
  // REQUIRES: this rank has a DeviceBuffer, and every rank finds the library.
  static std::unique_ptr<GpuGroup> Make(MPI_Comm comm, std::string* why_not);
  GpuGroup(const GpuGroup&) = delete;
  GpuGroup& operator=(const GpuGroup&) = delete;
  ~GpuGroup();

  // The sum over all ranks of `count` doubles in the GPUs' memory, once it is there. False when the
  // library or the GPU refused.
  bool AllReduce(const double* in, double* out, int64_t count) const;

 private:
  explicit GpuGroup(void* communicator) : communicator_(communicator) {}
  void* const communicator_;
};

// "2.28.3"; REQUIRES: the library is found.
std::string GpuCollectivesVersion();

}  // namespace muster::kernels
