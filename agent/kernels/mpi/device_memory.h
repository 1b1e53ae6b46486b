#pragma once

// Memory of a GPU for messages that an MPI library sends from there itself.
//
// CUDA's driver is looked for when the program runs, so that the MPI kernels build and start
// without it. Thread promise: the thread that speaks MPI. Invariant: the device stays in use, and
// the driver loaded, until the process ends.

#include <cstdint>
#include <memory>
#include <string>

namespace muster::kernels {

// Empty when the MPI library says that it takes pointers to a GPU's memory; else why not.
std::string WhyNotGpuAware();

class DeviceBuffer {
 public:
  // `count` doubles on the GPU number `rank` modulo those that are visible; null with the reason
  // where there is none, or no such memory.
  static std::unique_ptr<DeviceBuffer> Make(int rank, int64_t count, std::string* why_not);
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer();

  double* data() const;
  // False when the driver refused.
  bool Put(const double* from) const;
  bool Get(double* to) const;

 private:
  DeviceBuffer(std::uint64_t address, int64_t count) : address_(address), count_(count) {}
  const std::uint64_t address_;
  const int64_t count_;
};

}  // namespace muster::kernels
