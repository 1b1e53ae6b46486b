#include "agent/kernels/cpu/vector_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "agent/kernels/cpu/vector_loops.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "agent/kernels/place/memory.h"

HWY_BEFORE_NAMESPACE();
namespace muster::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
bool IsAligned(const T* data) {
  return reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
}

// out[i] = value(i) for all i: whole vectors by `vector`, the tail by `scalar`.
template <class T, class Vector, class Scalar>
void Fill(T* HWY_RESTRICT out, int64_t n, Stores stores, const Vector& vector,
          const Scalar& scalar) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (stores == Stores::kStreaming && IsAligned(out)) {
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
      hn::Stream(vector(i), d, out + i);
      hn::Stream(vector(i + lanes), d, out + i + lanes);
      hn::Stream(vector(i + 2 * lanes), d, out + i + 2 * lanes);
      hn::Stream(vector(i + 3 * lanes), d, out + i + 3 * lanes);
    }
    hwy::FlushStream();
  }
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(vector(i), d, out + i);
  }
  for (; i < n; ++i) {
    out[i] = scalar(i);
  }
}

void CopyF64(const double* HWY_RESTRICT in, double* HWY_RESTRICT out, int64_t n, Stores stores) {
  const hn::ScalableTag<double> d;
  Fill(
      out, n, stores, [&](int64_t i) HWY_ATTR { return hn::LoadU(d, in + i); },
      [&](int64_t i) HWY_ATTR { return in[i]; });
}

void ScaleF64(double s, const double* HWY_RESTRICT in, double* HWY_RESTRICT out, int64_t n,
              Stores stores) {
  const hn::ScalableTag<double> d;
  const auto factor = hn::Set(d, s);
  Fill(
      out, n, stores, [&](int64_t i) HWY_ATTR { return hn::Mul(factor, hn::LoadU(d, in + i)); },
      [&](int64_t i) HWY_ATTR { return s * in[i]; });
}

template <class T>
void Add(const T* HWY_RESTRICT left, const T* HWY_RESTRICT right, T* HWY_RESTRICT out, int64_t n,
         Stores stores) {
  const hn::ScalableTag<T> d;
  Fill(
      out, n, stores,
      [&](int64_t i) HWY_ATTR { return hn::Add(hn::LoadU(d, left + i), hn::LoadU(d, right + i)); },
      [&](int64_t i) HWY_ATTR { return left[i] + right[i]; });
}

void AddF32(const float* left, const float* right, float* out, int64_t n, Stores stores) {
  Add(left, right, out, n, stores);
}

void AddF64(const double* left, const double* right, double* out, int64_t n, Stores stores) {
  Add(left, right, out, n, stores);
}

void TriadF64(const double* HWY_RESTRICT left, double s, const double* HWY_RESTRICT right,
              double* HWY_RESTRICT out, int64_t n, Stores stores) {
  const hn::ScalableTag<double> d;
  const auto factor = hn::Set(d, s);
  Fill(
      out, n, stores,
      [&](int64_t i) HWY_ATTR {
        return hn::Add(hn::LoadU(d, left + i), hn::Mul(factor, hn::LoadU(d, right + i)));
      },
      [&](int64_t i) HWY_ATTR { return left[i] + s * right[i]; });
}

template <class T>
void Axpy(T a, const T* HWY_RESTRICT x, T* HWY_RESTRICT y, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, a);
  Fill(
      y, n, Stores::kOrdinary,
      [&](int64_t i)
          HWY_ATTR { return hn::Add(hn::LoadU(d, y + i), hn::Mul(factor, hn::LoadU(d, x + i))); },
      [&](int64_t i) HWY_ATTR { return y[i] + a * x[i]; });
}

void AxpyF32(float a, const float* x, float* y, int64_t n) {
  Axpy(a, x, y, n);
}

void AxpyF64(double a, const double* x, double* y, int64_t n) {
  Axpy(a, x, y, n);
}

// The sum of term(vector) over in[0..n) by eight accumulators, which hide the latency of an
// addition.
template <class T, class Term>
double Sum(const T* HWY_RESTRICT in, int64_t n, const Term& term) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d);
  auto s1 = s0;
  auto s2 = s0;
  auto s3 = s0;
  auto s4 = s0;
  auto s5 = s0;
  auto s6 = s0;
  auto s7 = s0;
  int64_t i = 0;
  for (; i + 8 * lanes <= n; i += 8 * lanes) {
    s0 = hn::Add(s0, term(hn::LoadU(d, in + i)));
    s1 = hn::Add(s1, term(hn::LoadU(d, in + i + lanes)));
    s2 = hn::Add(s2, term(hn::LoadU(d, in + i + 2 * lanes)));
    s3 = hn::Add(s3, term(hn::LoadU(d, in + i + 3 * lanes)));
    s4 = hn::Add(s4, term(hn::LoadU(d, in + i + 4 * lanes)));
    s5 = hn::Add(s5, term(hn::LoadU(d, in + i + 5 * lanes)));
    s6 = hn::Add(s6, term(hn::LoadU(d, in + i + 6 * lanes)));
    s7 = hn::Add(s7, term(hn::LoadU(d, in + i + 7 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) {
    s0 = hn::Add(s0, term(hn::LoadU(d, in + i)));
  }
  s0 =
      hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  double sum = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, s0)));
  for (; i < n; ++i) {
    sum += static_cast<double>(hn::GetLane(term(hn::Set(d, in[i]))));
  }
  return sum;
}

template <class T>
double SumPlain(const T* in, int64_t n) {
  return Sum(in, n, [](auto v) HWY_ATTR { return v; });
}

template <class T>
double SumSquares(const T* in, int64_t n) {
  return Sum(in, n, [](auto v) HWY_ATTR { return hn::Mul(v, v); });
}

double SumF32(const float* in, int64_t n) {
  return SumPlain(in, n);
}
double SumF64(const double* in, int64_t n) {
  return SumPlain(in, n);
}
double SquaresF32(const float* in, int64_t n) {
  return SumSquares(in, n);
}
double SquaresF64(const double* in, int64_t n) {
  return SumSquares(in, n);
}

double Fma(int64_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  // Chains converge to 1: x = 0.5 * x + 0.5. Nothing overflows and nothing becomes denormal.
  const auto half = hn::Set(d, 0.5F + *sink * 0x1.0p-20F);
  auto a = hn::Iota(d, 0);
  auto b = hn::Iota(d, 1);
  auto c = hn::Iota(d, 2);
  auto e = hn::Iota(d, 3);
  auto f = hn::Iota(d, 4);
  auto g = hn::Iota(d, 5);
  auto h = hn::Iota(d, 6);
  auto j = hn::Iota(d, 7);
  auto k = hn::Iota(d, 8);
  auto l = hn::Iota(d, 9);
  auto m = hn::Iota(d, 10);
  auto o = hn::Iota(d, 11);
  for (int64_t i = 0; i < rounds; ++i) {
    a = hn::MulAdd(a, half, half);
    b = hn::MulAdd(b, half, half);
    c = hn::MulAdd(c, half, half);
    e = hn::MulAdd(e, half, half);
    f = hn::MulAdd(f, half, half);
    g = hn::MulAdd(g, half, half);
    h = hn::MulAdd(h, half, half);
    j = hn::MulAdd(j, half, half);
    k = hn::MulAdd(k, half, half);
    l = hn::MulAdd(l, half, half);
    m = hn::MulAdd(m, half, half);
    o = hn::MulAdd(o, half, half);
  }
  const auto all = hn::Add(
      hn::Add(hn::Add(a, b), hn::Add(c, e)),
      hn::Add(hn::Add(hn::Add(f, g), hn::Add(h, j)), hn::Add(hn::Add(k, l), hn::Add(m, o))));
  *sink = hn::GetLane(hn::SumOfLanes(d, all));
  return static_cast<double>(rounds) * 12 * 2 * static_cast<double>(hn::Lanes(d));
}

const char* TargetName() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace muster::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::kernels {

HWY_EXPORT(CopyF64);
HWY_EXPORT(ScaleF64);
HWY_EXPORT(AddF32);
HWY_EXPORT(AddF64);
HWY_EXPORT(TriadF64);
HWY_EXPORT(AxpyF32);
HWY_EXPORT(AxpyF64);
HWY_EXPORT(SumF32);
HWY_EXPORT(SumF64);
HWY_EXPORT(SquaresF32);
HWY_EXPORT(SquaresF64);
HWY_EXPORT(Fma);
HWY_EXPORT(TargetName);

void CopyLoop(const double* in, double* out, int64_t n, Stores stores) {
  HWY_DYNAMIC_DISPATCH(CopyF64)(in, out, n, stores);
}
void ScaleLoop(double s, const double* in, double* out, int64_t n, Stores stores) {
  HWY_DYNAMIC_DISPATCH(ScaleF64)(s, in, out, n, stores);
}
void AddLoop(const double* left, const double* right, double* out, int64_t n, Stores stores) {
  HWY_DYNAMIC_DISPATCH(AddF64)(left, right, out, n, stores);
}
void AddLoop(const float* left, const float* right, float* out, int64_t n, Stores stores) {
  HWY_DYNAMIC_DISPATCH(AddF32)(left, right, out, n, stores);
}
void TriadLoop(const double* left, double s, const double* right, double* out, int64_t n,
               Stores stores) {
  HWY_DYNAMIC_DISPATCH(TriadF64)(left, s, right, out, n, stores);
}
void AxpyLoop(float a, const float* x, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(AxpyF32)(a, x, y, n);
}
void AxpyLoop(double a, const double* x, double* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(AxpyF64)(a, x, y, n);
}
double SumChunk(const float* in, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(SumF32)(in, n);
}
double SumChunk(const double* in, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(SumF64)(in, n);
}
double SumSquaresChunk(const float* in, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(SquaresF32)(in, n);
}
double SumSquaresChunk(const double* in, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(SquaresF64)(in, n);
}
double FmaLoop(int64_t rounds, float* sink) {
  return HWY_DYNAMIC_DISPATCH(Fma)(rounds, sink);
}
const char* SimdName() {
  return HWY_DYNAMIC_DISPATCH(TargetName)();
}

}  // namespace muster::kernels
#endif  // HWY_ONCE
