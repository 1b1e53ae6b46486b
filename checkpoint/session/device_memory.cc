#include "checkpoint/session/device_memory.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

namespace muster::checkpoint {
namespace {

// CUDA Driver API, section "Memory Management": CUresult is 0 when it went well.
using DevicePointer = unsigned long long;  // NOLINT(google-runtime-int): CUdeviceptr
using CopyToHost = int (*)(void* host, DevicePointer device, std::size_t size);
using CopyToDevice = int (*)(DevicePointer device, const void* host, std::size_t size);

struct Driver {
  CopyToHost to_host = nullptr;
  CopyToDevice to_device = nullptr;
  std::string why;  // it cannot be used; empty: it can
};

Driver LoadDriver() {
  Driver driver;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read as all of the environment is.
  const char* const named = std::getenv("MUSTER_CHECKPOINT_CUDA");
  void* const library = dlopen(named != nullptr ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps one a thread
    driver.why = std::string("no CUDA driver: ") + (why != nullptr ? why : "it cannot be loaded");
    return driver;
  }
  driver.to_host = reinterpret_cast<CopyToHost>(dlsym(library, "cuMemcpyDtoH_v2"));
  driver.to_device = reinterpret_cast<CopyToDevice>(dlsym(library, "cuMemcpyHtoD_v2"));
  if (driver.to_host == nullptr || driver.to_device == nullptr) {
    driver.why = "no CUDA driver: the library has no cuMemcpyDtoH_v2 and cuMemcpyHtoD_v2";
  }
  return driver;
}

// Loaded once, and never unloaded: the program uses it, too.
const Driver& TheDriver() {
  static const Driver driver = LoadDriver();
  return driver;
}

Error Verdict(int result, const char* call) {
  return result == 0 ? Error()
                     : MakeError(Fault::kSystem,
                                 std::string(call) + ": CUDA error " + std::to_string(result));
}

}  // namespace

Result<Elsewhere> CudaMemory(void* device, std::uint64_t size) {
  const Driver& driver = TheDriver();
  if (!driver.why.empty()) {
    return {{}, MakeError(Fault::kSystem, driver.why)};
  }
  const auto address = static_cast<DevicePointer>(reinterpret_cast<std::uintptr_t>(device));
  Elsewhere memory;
  memory.fetch = [&driver, address, size](void* host) {
    return Verdict(driver.to_host(host, address, size), "cuMemcpyDtoH");
  };
  memory.put = [&driver, address, size](const void* host) {
    return Verdict(driver.to_device(address, host, size), "cuMemcpyHtoD");
  };
  return {std::move(memory), {}};
}

}  // namespace muster::checkpoint
