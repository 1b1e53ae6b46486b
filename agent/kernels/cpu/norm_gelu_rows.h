#pragma once

// Layer normalisation (Ba, Kiros, Hinton 2016), GELU in its tanh form (Hendrycks, Gimpel 2016,
// section 2) and a scale, on rows of single precision: in one pass over memory, and as three.
//
//   y = scale * gelu(gamma * (x - mean) / sqrt(variance + 1e-5) + beta)
//   gelu(z) = z / 2 * (1 + tanh(sqrt(2 / pi) * (z + 0.044715 z^3)))
//
// Thread promise: pure but for `out`; callers cut the rows. Invariant: mean and variance are those
// of the row itself (divided by its length), the variance from the differences to the mean.

#include <cstdint>

namespace muster::kernels {

constexpr float kNormEpsilon = 1e-5F;

// Rows of `columns` elements each, dense.
struct Rows {
  const float* in = nullptr;
  float* out = nullptr;  // may be `in`
  int64_t rows = 0;
  int64_t columns = 0;
};

// gamma and beta: `columns` elements each.
struct NormWeights {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float scale = 1;
};

// All of it, each element read from memory once and written once.
void NormGeluScale(const Rows& rows, const NormWeights& weights);

// The three parts; together the same arithmetic.
void NormRows(const Rows& rows, const NormWeights& weights);
void GeluRows(const Rows& rows);
void ScaleRows(const Rows& rows, float scale);

// |error| of an output y of a row whose elements are below `largest` in magnitude and whose
// standard deviation is not small against them: 3e-5 * (1 + |y|), against double precision.
constexpr double kNormGeluTolerance = 3e-5;

}  // namespace muster::kernels
