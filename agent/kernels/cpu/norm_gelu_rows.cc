#include "agent/kernels/cpu/norm_gelu_rows.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "agent/kernels/cpu/norm_gelu_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// Behind the two above.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace muster::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// z / 2 * (1 + tanh(u)) is z / (1 + exp(-2u)): one exponential. Clamped where single precision has
// nothing left to say.
HWY_INLINE V Gelu(V z) {
  const D d;
  const V cubed = hn::Mul(hn::Mul(z, z), z);
  const V inner = hn::MulAdd(hn::Set(d, 0.044715F), cubed, z);
  const V twice = hn::Mul(hn::Set(d, -2 * 0.7978845608F), inner);
  const V bounded = hn::Min(hn::Max(twice, hn::Set(d, -80.0F)), hn::Set(d, 80.0F));
  return hn::Div(z, hn::Add(hn::Set(d, 1.0F), hn::Exp(d, bounded)));
}

// out[i] = value(loaded in[i], i); the tail goes through a vector filled up with zeros.
template <class Value>
HWY_INLINE void Map(const float* in, float* out, int64_t n, const Value& value) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(value(hn::LoadU(d, in + i), i), d, out + i);
  }
  const hn::CappedTag<float, 1> one;
  for (; i < n; ++i) {
    const float result = hn::GetLane(value(hn::Set(d, in[i]), -i - 1));
    hn::StoreU(hn::Set(one, result), one, out + i);
  }
}

// A weight for Map: whole vectors at i >= 0, one element at index -i - 1.
HWY_INLINE V Weight(const float* weights, int64_t i) {
  const D d;
  return i >= 0 ? hn::LoadU(d, weights + i) : hn::Set(d, weights[-i - 1]);
}

template <class Term>
HWY_INLINE float SumOf(const float* in, int64_t n, const Term& term) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V s0 = hn::Zero(d);
  V s1 = s0;
  V s2 = s0;
  V s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, term(hn::LoadU(d, in + i)));
    s1 = hn::Add(s1, term(hn::LoadU(d, in + i + lanes)));
    s2 = hn::Add(s2, term(hn::LoadU(d, in + i + 2 * lanes)));
    s3 = hn::Add(s3, term(hn::LoadU(d, in + i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) {
    s0 = hn::Add(s0, term(hn::LoadU(d, in + i)));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) {
    sum += hn::GetLane(term(hn::Set(d, in[i])));
  }
  return sum;
}

struct Moments {
  float mean;
  float reciprocal;  // 1 / sqrt(variance + epsilon)
};

HWY_INLINE Moments MomentsOf(const float* in, int64_t columns) {
  const D d;
  const auto count = static_cast<float>(columns);
  const float mean = SumOf(in, columns, [](V v) HWY_ATTR { return v; }) / count;
  const V middle = hn::Set(d, mean);
  const float squares = SumOf(in, columns, [&](V v) HWY_ATTR {
    const V apart = hn::Sub(v, middle);
    return hn::Mul(apart, apart);
  });
  return {mean, 1.0F / std::sqrt(squares / count + kNormEpsilon)};
}

void FusedRows(const Rows& rows, const NormWeights& weights) {
  const D d;
  const V scale = hn::Set(d, weights.scale);
  for (int64_t row = 0; row < rows.rows; ++row) {
    const float* in = rows.in + row * rows.columns;
    const Moments moments = MomentsOf(in, rows.columns);
    const V mean = hn::Set(d, moments.mean);
    const V reciprocal = hn::Set(d, moments.reciprocal);
    Map(in, rows.out + row * rows.columns, rows.columns, [&](V v, int64_t i) HWY_ATTR {
      const V unit = hn::Mul(hn::Sub(v, mean), reciprocal);
      const V z = hn::MulAdd(unit, Weight(weights.gamma, i), Weight(weights.beta, i));
      return hn::Mul(scale, Gelu(z));
    });
  }
}

void OnlyNorm(const Rows& rows, const NormWeights& weights) {
  const D d;
  for (int64_t row = 0; row < rows.rows; ++row) {
    const float* in = rows.in + row * rows.columns;
    const Moments moments = MomentsOf(in, rows.columns);
    const V mean = hn::Set(d, moments.mean);
    const V reciprocal = hn::Set(d, moments.reciprocal);
    Map(in, rows.out + row * rows.columns, rows.columns, [&](V v, int64_t i) HWY_ATTR {
      const V unit = hn::Mul(hn::Sub(v, mean), reciprocal);
      return hn::MulAdd(unit, Weight(weights.gamma, i), Weight(weights.beta, i));
    });
  }
}

void OnlyGelu(const float* in, float* out, int64_t n) {
  Map(in, out, n, [](V v, int64_t) HWY_ATTR { return Gelu(v); });
}

void OnlyScale(const float* in, float* out, int64_t n, float factor) {
  const D d;
  const V scale = hn::Set(d, factor);
  Map(in, out, n, [&](V v, int64_t) HWY_ATTR { return hn::Mul(scale, v); });
}

}  // namespace muster::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::kernels {

HWY_EXPORT(FusedRows);
HWY_EXPORT(OnlyNorm);
HWY_EXPORT(OnlyGelu);
HWY_EXPORT(OnlyScale);

void NormGeluScale(const Rows& rows, const NormWeights& weights) {
  HWY_DYNAMIC_DISPATCH(FusedRows)(rows, weights);
}
void NormRows(const Rows& rows, const NormWeights& weights) {
  HWY_DYNAMIC_DISPATCH(OnlyNorm)(rows, weights);
}
void GeluRows(const Rows& rows) {
  HWY_DYNAMIC_DISPATCH(OnlyGelu)(rows.in, rows.out, rows.rows * rows.columns);
}
void ScaleRows(const Rows& rows, float scale) {
  HWY_DYNAMIC_DISPATCH(OnlyScale)(rows.in, rows.out, rows.rows * rows.columns, scale);
}

}  // namespace muster::kernels
#endif  // HWY_ONCE
