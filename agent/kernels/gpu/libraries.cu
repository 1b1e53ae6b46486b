#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/libraries.h"

namespace muster::kernels {
namespace {

// The documented C interfaces: handles are pointers, results are 0 for success.
using Create = int (*)(void**);
using Destroy = int (*)(void*);
using SetStream = int (*)(void*, GPU(Stream_t));
using Gemm = int (*)(void*, int, int, int, int, int, const float*, const float*, int, const float*,
                     int, const float*, float*, int);
using InitAll = int (*)(void**, int, const int*);
using Reduce = int (*)(const void*, void*, size_t, int, int, void*, GPU(Stream_t));
using Group = int (*)();

#if defined(__HIPCC__)
constexpr std::initializer_list<const char*> kBlasNames = {"libhipblas.so.2", "libhipblas.so.0",
                                                           "libhipblas.so"};
constexpr std::initializer_list<const char*> kCollectiveNames = {"librccl.so.1", "librccl.so"};
constexpr const char* kCreate = "hipblasCreate";
constexpr const char* kDestroy = "hipblasDestroy";
constexpr const char* kSetStream = "hipblasSetStream";
constexpr const char* kGemm = "hipblasSgemm";
constexpr int kNoTranspose = 111;
#else
constexpr std::initializer_list<const char*> kBlasNames = {"libcublas.so.13", "libcublas.so.12",
                                                           "libcublas.so.11", "libcublas.so"};
constexpr std::initializer_list<const char*> kCollectiveNames = {"libnccl.so.2", "libnccl.so"};
constexpr const char* kCreate = "cublasCreate_v2";
constexpr const char* kDestroy = "cublasDestroy_v2";
constexpr const char* kSetStream = "cublasSetStream_v2";
constexpr const char* kGemm = "cublasSgemm_v2";
constexpr int kNoTranspose = 0;
#endif
constexpr int kFloat32 = 7;  // ncclFloat32
constexpr int kSum = 0;      // ncclSum

void* OpenAny(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      return library;
    }
  }
  return nullptr;
}

template <class Function>
Function Find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// Ends the program unless `code` is 0.
void MustLibrary(int code, const char* what) {
  if (code != 0) {
    std::fprintf(stderr, "gpu: %s: the library's error %d\n", what, code);
    std::fflush(nullptr);
    std::_Exit(1);
  }
}

bool HasAll(void* library, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (dlsym(library, name) == nullptr) {
      return false;
    }
  }
  return true;
}

}  // namespace

Blas::Blas() : library_(OpenAny(kBlasNames)) {
  if (library_ != nullptr && HasAll(library_, {kCreate, kDestroy, kSetStream, kGemm})) {
    MustLibrary(Find<Create>(library_, kCreate)(&handle_), kCreate);
  }
}

Blas::~Blas() {
  if (handle_ != nullptr) {
    MustLibrary(Find<Destroy>(library_, kDestroy)(handle_), kDestroy);
  }
}

void Blas::Multiply(int side, const float* a, const float* b, float* c,
                    GPU(Stream_t) stream) const {
  MustLibrary(Find<SetStream>(library_, kSetStream)(handle_, stream), kSetStream);
  const float one = 1;
  const float zero = 0;
  // Column-major: what it takes for B^T A^T is our row-major A B.
  MustLibrary(Find<Gemm>(library_, kGemm)(handle_, kNoTranspose, kNoTranspose, side, side, side,
                                          &one, b, side, a, side, &zero, c, side),
              kGemm);
}

Collectives::Collectives(int devices) : library_(OpenAny(kCollectiveNames)) {
  if (library_ == nullptr ||
      !HasAll(library_, {"ncclCommInitAll", "ncclCommDestroy", "ncclAllReduce", "ncclGroupStart",
                         "ncclGroupEnd"})) {
    return;
  }
  communicators_.resize(static_cast<size_t>(devices));
  MustLibrary(Find<InitAll>(library_, "ncclCommInitAll")(communicators_.data(), devices, nullptr),
              "ncclCommInitAll");
}

Collectives::~Collectives() {
  for (void* communicator : communicators_) {
    MustLibrary(Find<Destroy>(library_, "ncclCommDestroy")(communicator), "ncclCommDestroy");
  }
}

void Collectives::AllReduce(const std::vector<float*>& in, const std::vector<float*>& out,
                            size_t count, const std::vector<GPU(Stream_t)>& streams) const {
  MustLibrary(Find<Group>(library_, "ncclGroupStart")(), "ncclGroupStart");
  for (size_t device = 0; device < communicators_.size(); ++device) {
    MustLibrary(
        Find<Reduce>(library_, "ncclAllReduce")(in[device], out[device], count, kFloat32, kSum,
                                                communicators_[device], streams[device]),
        "ncclAllReduce");
  }
  MustLibrary(Find<Group>(library_, "ncclGroupEnd")(), "ncclGroupEnd");
}

}  // namespace muster::kernels
