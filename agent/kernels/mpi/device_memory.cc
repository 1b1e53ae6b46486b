#include "agent/kernels/mpi/device_memory.h"

#include <dlfcn.h>

#include <cstddef>

namespace muster::kernels {
namespace {

// The part of CUDA's driver interface that is used; the types are those of cuda.h.
struct Driver {
  int (*init)(unsigned flags) = nullptr;
  int (*device_count)(int* count) = nullptr;
  int (*device)(int* device, int ordinal) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*set_current)(void* context) = nullptr;
  int (*allocate)(std::uint64_t* address, size_t bytes) = nullptr;
  int (*release)(std::uint64_t address) = nullptr;
  int (*put)(std::uint64_t to, const void* from, size_t bytes) = nullptr;
  int (*get)(void* to, std::uint64_t from, size_t bytes) = nullptr;
};

template <class Function>
bool Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

// Null without a driver.
const Driver* LoadDriver() {
  static Driver driver;
  static const bool loaded = [] {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    return library != nullptr && Find(library, "cuInit", &driver.init) &&
           Find(library, "cuDeviceGetCount", &driver.device_count) &&
           Find(library, "cuDeviceGet", &driver.device) &&
           Find(library, "cuDevicePrimaryCtxRetain", &driver.retain) &&
           Find(library, "cuCtxSetCurrent", &driver.set_current) &&
           Find(library, "cuMemAlloc_v2", &driver.allocate) &&
           Find(library, "cuMemFree_v2", &driver.release) &&
           Find(library, "cuMemcpyHtoD_v2", &driver.put) &&
           Find(library, "cuMemcpyDtoH_v2", &driver.get);
  }();
  return loaded ? &driver : nullptr;
}

size_t Bytes(int64_t count) {
  return static_cast<size_t>(count) * sizeof(double);
}

}  // namespace

std::string WhyNotGpuAware() {
  // An extension of Open MPI, MVAPICH and MPICH; not all builds have it.
  int (*query)() = nullptr;
  if (!Find(RTLD_DEFAULT, "MPIX_Query_cuda_support", &query)) {
    return "the MPI library does not tell whether it takes a GPU's memory";
  }
  return query() == 1 ? "" : "the MPI library does not take a GPU's memory";
}

std::unique_ptr<DeviceBuffer> DeviceBuffer::Make(int rank, int64_t count, std::string* why_not) {
  const Driver* driver = LoadDriver();
  int devices = 0;
  if (driver == nullptr || driver->init(0) != 0 || driver->device_count(&devices) != 0 ||
      devices < 1) {
    *why_not = "no GPU here";
    return nullptr;
  }
  int device = 0;
  void* context = nullptr;
  std::uint64_t address = 0;
  if (driver->device(&device, rank % devices) != 0 || driver->retain(&context, device) != 0 ||
      driver->set_current(context) != 0 || driver->allocate(&address, Bytes(count)) != 0) {
    *why_not = "the GPU refused the memory";
    return nullptr;
  }
  return std::unique_ptr<DeviceBuffer>(new DeviceBuffer(address, count));
}

DeviceBuffer::~DeviceBuffer() {
  LoadDriver()->release(address_);
}

double* DeviceBuffer::data() const {
  // What CUDA gives is an address for MPI, too. NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<double*>(address_);
}

bool DeviceBuffer::Put(const double* from) const {
  return LoadDriver()->put(address_, from, Bytes(count_)) == 0;
}

bool DeviceBuffer::Get(double* to) const {
  return LoadDriver()->get(to, address_, Bytes(count_)) == 0;
}

}  // namespace muster::kernels
