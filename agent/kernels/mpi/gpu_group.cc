#include "agent/kernels/mpi/gpu_group.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>

#include "agent/kernels/mpi/device_memory.h"

namespace muster::kernels {
namespace {

// The part of nccl.h that is used, which is rccl.h's, too; results are 0 for success.
struct UniqueId {
  std::array<char, 128> bytes;
};
struct Library {
  int (*get_version)(int* version) = nullptr;
  int (*get_unique_id)(UniqueId* id) = nullptr;
  int (*init_rank)(void** communicator, int ranks, UniqueId id, int rank) = nullptr;
  int (*all_reduce)(const void* in, void* out, size_t count, int type, int operation,
                    void* communicator, void* stream) = nullptr;
  int (*destroy)(void* communicator) = nullptr;
  const char* (*error_text)(int code) = nullptr;
};
constexpr int kFloat64 = 8;  // ncclFloat64
constexpr int kSum = 0;      // ncclSum

constexpr std::array<const char*, 2> kNvidiaNames = {"libnccl.so.2", "libnccl.so"};
constexpr std::array<const char*, 2> kAmdNames = {"librccl.so.1", "librccl.so"};

template <class Function>
bool Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

void* OpenAny() {
  for (const char* const name : GpusAreAmds() ? kAmdNames : kNvidiaNames) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL); library != nullptr) {
      return library;
    }
  }
  return nullptr;
}

// Null where it is not found, or lacks a function.
const Library* Load() {
  static Library library;
  static const bool loaded = [] {
    void* const opened = OpenAny();
    return opened != nullptr && Find(opened, "ncclGetVersion", &library.get_version) &&
           Find(opened, "ncclGetUniqueId", &library.get_unique_id) &&
           Find(opened, "ncclCommInitRank", &library.init_rank) &&
           Find(opened, "ncclAllReduce", &library.all_reduce) &&
           Find(opened, "ncclCommDestroy", &library.destroy) &&
           Find(opened, "ncclGetErrorString", &library.error_text);
  }();
  return loaded ? &library : nullptr;
}

}  // namespace

std::string WhyNoGpuCollectives() {
  return Load() != nullptr ? ""
                           : std::string("no ") +
                                 (GpusAreAmds() ? kAmdNames : kNvidiaNames).front() + " is found";
}

std::string GpuCollectivesVersion() {
  constexpr int kMajor = 10'000;
  constexpr int kMinor = 100;
  int version = 0;
  if (Load()->get_version(&version) != 0) {
    return "";
  }
  return std::to_string(version / kMajor) + "." + std::to_string(version % kMajor / kMinor) + "." +
         std::to_string(version % kMinor);
}

std::unique_ptr<GpuGroup> GpuGroup::Make(MPI_Comm comm, std::string* why_not) {
  const Library& library = *Load();
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  UniqueId id{};
  int failed = rank == 0 ? library.get_unique_id(&id) : 0;
  MPI_Bcast(&failed, 1, MPI_INT, 0, comm);
  MPI_Bcast(id.bytes.data(), static_cast<int>(id.bytes.size()), MPI_BYTE, 0, comm);
  void* communicator = nullptr;
  failed = failed == 0 ? library.init_rank(&communicator, size, id, rank) : failed;
  if (failed != 0) {
    *why_not = library.error_text(failed);
    return nullptr;
  }
  return std::unique_ptr<GpuGroup>(new GpuGroup(communicator));
}

GpuGroup::~GpuGroup() {
  Load()->destroy(communicator_);
}

bool GpuGroup::AllReduce(const double* in, double* out, int64_t count) const {
  return Load()->all_reduce(in, out, static_cast<size_t>(count), kFloat64, kSum, communicator_,
                            nullptr) == 0 &&
         WaitForGpu();
}

}  // namespace muster::kernels
