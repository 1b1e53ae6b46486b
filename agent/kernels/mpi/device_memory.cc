#include "agent/kernels/mpi/device_memory.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>

namespace muster::kernels {
namespace {

// The part of CUDA's driver interface that is used; the types are those of cuda.h. HIP's functions
// of the same use take the same arguments.
struct Driver {
  bool amd = false;
  int (*init)(unsigned flags) = nullptr;
  int (*device_count)(int* count) = nullptr;
  int (*device)(int* device, int ordinal) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*set_current)(void* context) = nullptr;
  int (*allocate)(std::uint64_t* address, size_t bytes) = nullptr;
  int (*release)(std::uint64_t address) = nullptr;
  int (*put)(std::uint64_t to, const void* from, size_t bytes) = nullptr;
  int (*get)(void* to, std::uint64_t from, size_t bytes) = nullptr;
  int (*wait)() = nullptr;
  int (*bus_id)(char* text, int length, int device) = nullptr;
};

// The names of these functions, in their order.
using Names = std::array<const char*, 11>;
constexpr Names kCuda = {
    "cuInit",          "cuDeviceGetCount", "cuDeviceGet",        "cuDevicePrimaryCtxRetain",
    "cuCtxSetCurrent", "cuMemAlloc_v2",    "cuMemFree_v2",       "cuMemcpyHtoD_v2",
    "cuMemcpyDtoH_v2", "cuCtxSynchronize", "cuDeviceGetPCIBusId"};
constexpr Names kHip = {"hipInit",
                        "hipGetDeviceCount",
                        "hipDeviceGet",
                        "hipDevicePrimaryCtxRetain",
                        "hipCtxSetCurrent",
                        "hipMalloc",
                        "hipFree",
                        "hipMemcpyHtoD",
                        "hipMemcpyDtoH",
                        "hipDeviceSynchronize",
                        "hipDeviceGetPCIBusId"};

template <class Function>
bool Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

bool FindAll(const char* file, const Names& names, Driver* driver) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  return library != nullptr && Find(library, names[0], &driver->init) &&
         Find(library, names[1], &driver->device_count) &&
         Find(library, names[2], &driver->device) && Find(library, names[3], &driver->retain) &&
         Find(library, names[4], &driver->set_current) &&
         Find(library, names[5], &driver->allocate) && Find(library, names[6], &driver->release) &&
         Find(library, names[7], &driver->put) && Find(library, names[8], &driver->get) &&
         Find(library, names[9], &driver->wait) && Find(library, names[10], &driver->bus_id);
}

// Null without a driver.
const Driver* LoadDriver() {
  static Driver driver;
  static const bool loaded = [] {
    if (FindAll("libcuda.so.1", kCuda, &driver)) {
      return true;
    }
    driver.amd = true;
    return FindAll("libamdhip64.so.7", kHip, &driver) ||
           FindAll("libamdhip64.so.6", kHip, &driver) || FindAll("libamdhip64.so.5", kHip, &driver);
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

int VisibleGpus() {
  const Driver* driver = LoadDriver();
  int devices = 0;
  return driver != nullptr && driver->init(0) == 0 && driver->device_count(&devices) == 0 ? devices
                                                                                          : 0;
}

bool GpusAreAmds() {
  const Driver* driver = LoadDriver();
  return driver != nullptr && driver->amd;
}

bool WaitForGpu() {
  return LoadDriver()->wait() == 0;
}

std::unique_ptr<DeviceBuffer> DeviceBuffer::Make(int rank, int64_t count, std::string* why_not) {
  const int devices = VisibleGpus();
  if (devices < 1) {
    *why_not = "no GPU here";
    return nullptr;
  }
  const Driver* driver = LoadDriver();
  int device = 0;
  void* context = nullptr;
  std::uint64_t address = 0;
  if (driver->device(&device, rank % devices) != 0 || driver->retain(&context, device) != 0 ||
      driver->set_current(context) != 0 || driver->allocate(&address, Bytes(count)) != 0) {
    *why_not = "the GPU refused the memory";
    return nullptr;
  }
  std::array<char, 32> bus_id{};
  if (driver->bus_id(bus_id.data(), static_cast<int>(bus_id.size()), device) != 0) {
    bus_id[0] = '\0';
  }
  return std::unique_ptr<DeviceBuffer>(new DeviceBuffer(address, count, bus_id.data()));
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
