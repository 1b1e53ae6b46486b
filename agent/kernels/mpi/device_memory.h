#pragma once

// Memory of a GPU for messages that an MPI library or a collective library sends from there itself.
//
// CUDA's driver, or else HIP's runtime, is looked for when the program runs, so that the MPI
// kernels build and start without it. Thread promise: the thread that speaks MPI. Invariant: the
// device stays in use, and the driver loaded, until the process ends.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace muster::kernels {

// Empty when the MPI library says that it takes pointers to a GPU's memory; else why not.
std::string WhyNotGpuAware();

// How many GPUs this process sees.
int VisibleGpus();
// Whether they are HIP's.
bool GpusAreAmds();
// Until all that was put on the GPU in use is done; false when something of it failed.
bool WaitForGpu();

class DeviceBuffer {
 public:
  // `count` doubles on the GPU number `rank` modulo those that are visible; null with the reason
  // where there is none, or no such memory.
  static std::unique_ptr<DeviceBuffer> Make(int rank, int64_t count, std::string* why_not);
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer();

  double* data() const;
  // Of the GPU: "0000:1B:00.0"; empty when the driver does not say.
  const std::string& bus_id() const { return bus_id_; }
  // False when the driver refused.
  bool Put(const double* from) const;
  bool Get(double* to) const;

 private:
  DeviceBuffer(std::uint64_t address, int64_t count, std::string bus_id)
      : address_(address), count_(count), bus_id_(std::move(bus_id)) {}
  const std::uint64_t address_;
  const int64_t count_;
  const std::string bus_id_;
};

}  // namespace muster::kernels
