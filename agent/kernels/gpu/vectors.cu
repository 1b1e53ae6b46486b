#include <algorithm>
#include <memory>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/operations.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

constexpr float kFactor = 0.625F;

enum class Form { kCopy, kAdd, kTriad };

// Rounded one by one, as the reference is: no fused multiply-add.
template <Form form>
__device__ float Value(float a, float b) {
  switch (form) {
    case Form::kCopy:
      return a;
    case Form::kAdd:
      return __fadd_rn(a, b);
    default:
      return __fadd_rn(b, __fmul_rn(kFactor, a));
  }
}

template <Form form>
__device__ float4 Value(float4 a, float4 b) {
  return make_float4(Value<form>(a.x, b.x), Value<form>(a.y, b.y), Value<form>(a.z, b.z),
                     Value<form>(a.w, b.w));
}

// Four elements a thread; the thread behind the last whole four takes the tail. `b` may be `out`.
template <Form form>
__global__ void Map(const float* __restrict__ a, const float* b, float* out, int64_t n) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
  if (4 * at + 4 <= n) {
    const float4 left = reinterpret_cast<const float4*>(a)[at];
    const float4 right = form == Form::kCopy ? left : reinterpret_cast<const float4*>(b)[at];
    reinterpret_cast<float4*>(out)[at] = Value<form>(left, right);
    return;
  }
  for (int64_t i = 4 * at; i < n; ++i) {
    out[i] = Value<form>(a[i], form == Form::kCopy ? a[i] : b[i]);
  }
}

template <Form form>
void Launch(const float* a, const float* b, float* out, int64_t n, GPU(Stream_t) stream) {
  Map<form><<<BlocksFor((n + 3) / 4, kBlockThreads), kBlockThreads, 0, stream>>>(a, b, out, n);
  MustLaunch("a vector kernel");
}

struct Arrays {
  explicit Arrays(int64_t n) : a(n), b(n), out(n) {}

  DeviceArray<float> a;
  DeviceArray<float> b;
  DeviceArray<float> out;
  Stream stream;
};

float Input(uint64_t seed, int64_t i) {
  return static_cast<float>(2 * SeededUnit(seed, static_cast<uint64_t>(i)) - 1);
}

std::vector<float> Inputs(uint64_t seed, int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    values[static_cast<size_t>(i)] = Input(seed, i);
  }
  return values;
}

float Expected(Form form, float a, float b) {
  const volatile float product = kFactor * a;  // rounded before it is added
  switch (form) {
    case Form::kCopy:
      return a;
    case Form::kAdd:
      return a + b;
    default:
      return b + product;
  }
}

std::shared_ptr<Arrays> MakeArrays(uint64_t seed, int64_t n) {
  auto arrays = std::make_shared<Arrays>(n);
  arrays->a.Set(Inputs(seed, n));
  arrays->b.Set(Inputs(seed + 1, n));
  arrays->out.Poison();
  return arrays;
}

void CheckOut(Form form, const char* name, uint64_t seed, const Arrays& arrays, Check* check) {
  const std::vector<float> out = arrays.out.Get();
  double worst = 0;
  for (int64_t i = 0; i < arrays.out.size(); ++i) {
    worst = std::max(worst, ErrorOf(out[static_cast<size_t>(i)],
                                    Expected(form, Input(seed, i), Input(seed + 1, i))));
  }
  check->Hold(std::string(name) + " of " + std::to_string(arrays.out.size()), worst, 0);
}

template <Form form>
Operation MakeOperation(const char* name, double arrays_moved, double flop, uint64_t seed,
                        const std::shared_ptr<Arrays>& arrays) {
  const auto n = static_cast<double>(arrays->out.size());
  Operation operation;
  operation.name = name;
  operation.flop = flop * n;
  operation.bytes = arrays_moved * sizeof(float) * n;
  operation.run = [arrays] {
    return TimeOn(arrays->stream, [&](GPU(Stream_t) stream) {
      Launch<form>(arrays->a.data(), arrays->b.data(), arrays->out.data(), arrays->out.size(),
                   stream);
    });
  };
  operation.check = [arrays, name, seed](Check* check) {
    // The others wrote the same array: once more, on poison.
    arrays->out.Poison();
    Launch<form>(arrays->a.data(), arrays->b.data(), arrays->out.data(), arrays->out.size(),
                 arrays->stream.get());
    arrays->stream.Wait();
    CheckOut(form, name, seed, *arrays, check);
  };
  return operation;
}

Operation LibraryCopy(const std::shared_ptr<Arrays>& arrays, uint64_t seed) {
  Operation operation;
  operation.name = "copy-runtime";
  operation.bytes = 2.0 * sizeof(float) * static_cast<double>(arrays->out.size());
  operation.run = [arrays] {
    return TimeOn(arrays->stream, [&](GPU(Stream_t) stream) {
      Must(GPU(MemcpyAsync)(arrays->out.data(), arrays->a.data(), arrays->a.Bytes(),
                            GPU(MemcpyDeviceToDevice), stream),
           "copying within the GPU");
    });
  };
  operation.check = [arrays, seed, run = operation.run](Check* check) {
    arrays->out.Poison();
    run();
    CheckOut(Form::kCopy, "copy-runtime", seed, *arrays, check);
  };
  return operation;
}

// y = y + a * x in place; the check makes the same steps one by one.
struct Axpy {
  Axpy(uint64_t with_seed, int64_t n) : seed(with_seed), x(n), y(n) {
    x.Set(Inputs(seed, n));
    y.Set(Inputs(seed + 1, n));
  }

  double MaxError() const {
    const std::vector<float> out = y.Get();
    double worst = 0;
    for (int64_t i = 0; i < y.size(); ++i) {
      float expected = Input(seed + 1, i);
      for (int64_t run = 0; run < runs; ++run) {
        expected = Expected(Form::kTriad, Input(seed, i), expected);
      }
      worst = std::max(worst, ErrorOf(out[static_cast<size_t>(i)], expected));
    }
    return worst;
  }

  uint64_t seed;
  DeviceArray<float> x;
  DeviceArray<float> y;
  Stream stream;
  int64_t runs = 0;
};

Operation AxpyOperation(const GpuOptions& options) {
  auto axpy = std::make_shared<Axpy>(options.seed, options.n);
  Operation operation;
  operation.name = "saxpy";
  operation.flop = 2 * static_cast<double>(options.n);
  operation.bytes = 3.0 * sizeof(float) * static_cast<double>(options.n);
  operation.run = [axpy] {
    ++axpy->runs;
    return TimeOn(axpy->stream, [&](GPU(Stream_t) stream) {
      Launch<Form::kTriad>(axpy->x.data(), axpy->y.data(), axpy->y.data(), axpy->y.size(), stream);
    });
  };
  operation.check = [axpy](Check* check) { check->Hold("saxpy", axpy->MaxError(), 0); };
  return operation;
}

}  // namespace

void AddVectorOperations(const GpuOptions& options, Operations* operations) {
  const auto arrays = MakeArrays(options.seed, options.n);
  const uint64_t seed = options.seed;
  operations->push_back(LibraryCopy(arrays, seed));
  operations->push_back(MakeOperation<Form::kCopy>("copy", 2, 0, seed, arrays));
  operations->push_back(MakeOperation<Form::kAdd>("vector-add", 3, 1, seed, arrays));
  operations->push_back(MakeOperation<Form::kTriad>("triad", 3, 2, seed, arrays));
  operations->push_back(AxpyOperation(options));
}

void VerifyVectors(uint64_t seed, Check* check) {
  for (const int64_t n : {1, 2, 3, 4, 5, 31, 32, 33, 1023, 1024, 1025, 100003}) {
    const auto arrays = MakeArrays(seed, n);
    for (const auto& operation : {MakeOperation<Form::kCopy>("copy", 2, 0, seed, arrays),
                                  MakeOperation<Form::kAdd>("vector-add", 3, 1, seed, arrays),
                                  MakeOperation<Form::kTriad>("triad", 3, 2, seed, arrays)}) {
      operation.check(check);
    }
  }
}

}  // namespace muster::kernels
