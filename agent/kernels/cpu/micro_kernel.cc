#include "agent/kernels/cpu/micro_kernel.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "agent/kernels/cpu/micro_kernel.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace muster::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE void StoreRow(V left, V right, float* out, bool accumulate) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  if (accumulate) {
    left = hn::Add(left, hn::LoadU(d, out));
    right = hn::Add(right, hn::LoadU(d, out + lanes));
  }
  hn::StoreU(left, d, out);
  hn::StoreU(right, d, out + lanes);
}

// Six rows of two vectors stay in registers from the first to the last step.
HWY_NOINLINE void Tile(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, int64_t depth,
                       float* HWY_RESTRICT c, int64_t stride, bool accumulate) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V c00 = hn::Zero(d);
  V c01 = c00;
  V c10 = c00;
  V c11 = c00;
  V c20 = c00;
  V c21 = c00;
  V c30 = c00;
  V c31 = c00;
  V c40 = c00;
  V c41 = c00;
  V c50 = c00;
  V c51 = c00;
  for (int64_t k = 0; k < depth; ++k) {
    const V b0 = hn::LoadU(d, b);
    const V b1 = hn::LoadU(d, b + lanes);
    hwy::Prefetch(b + 16 * lanes);
    V row = hn::Set(d, a[0]);
    c00 = hn::MulAdd(row, b0, c00);
    c01 = hn::MulAdd(row, b1, c01);
    row = hn::Set(d, a[1]);
    c10 = hn::MulAdd(row, b0, c10);
    c11 = hn::MulAdd(row, b1, c11);
    row = hn::Set(d, a[2]);
    c20 = hn::MulAdd(row, b0, c20);
    c21 = hn::MulAdd(row, b1, c21);
    row = hn::Set(d, a[3]);
    c30 = hn::MulAdd(row, b0, c30);
    c31 = hn::MulAdd(row, b1, c31);
    row = hn::Set(d, a[4]);
    c40 = hn::MulAdd(row, b0, c40);
    c41 = hn::MulAdd(row, b1, c41);
    row = hn::Set(d, a[5]);
    c50 = hn::MulAdd(row, b0, c50);
    c51 = hn::MulAdd(row, b1, c51);
    a += kTileRows;
    b += 2 * lanes;
  }
  StoreRow(c00, c01, c, accumulate);
  StoreRow(c10, c11, c + stride, accumulate);
  StoreRow(c20, c21, c + 2 * stride, accumulate);
  StoreRow(c30, c31, c + 3 * stride, accumulate);
  StoreRow(c40, c41, c + 4 * stride, accumulate);
  StoreRow(c50, c51, c + 5 * stride, accumulate);
}

// A tile that reaches over the block's edge is made aside, and what is inside is copied.
HWY_NOINLINE void EdgeTile(const float* a, const float* b, int64_t depth, const ProductBlock& part,
                           bool accumulate) {
  const auto columns = static_cast<int64_t>(2 * hn::Lanes(D()));
  float aside[kTileRows * kTileColumnsMax];
  Tile(a, b, depth, aside, columns, /*accumulate=*/false);
  for (int64_t i = 0; i < part.rows; ++i) {
    float* out = part.data + i * part.stride;
    for (int64_t j = 0; j < part.columns; ++j) {
      out[j] = accumulate ? out[j] + aside[i * columns + j] : aside[i * columns + j];
    }
  }
}

void Panels(const float* a, const float* b, int64_t depth, const ProductBlock& block,
            bool accumulate) {
  const auto columns = static_cast<int64_t>(2 * hn::Lanes(D()));
  for (int64_t j = 0; j < block.columns; j += columns) {
    for (int64_t i = 0; i < block.rows; i += kTileRows) {
      const ProductBlock part = {block.data + i * block.stride + j, block.stride,
                                 std::min(kTileRows, block.rows - i),
                                 std::min(columns, block.columns - j)};
      if (part.rows == kTileRows && part.columns == columns) {
        Tile(a + i * depth, b + j * depth, depth, part.data, part.stride, accumulate);
      } else {
        EdgeTile(a + i * depth, b + j * depth, depth, part, accumulate);
      }
    }
  }
}

int64_t Columns() {
  return static_cast<int64_t>(2 * hn::Lanes(D()));
}

}  // namespace muster::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace muster::kernels {

HWY_EXPORT(Panels);
HWY_EXPORT(Columns);

int64_t TileColumns() {
  return HWY_DYNAMIC_DISPATCH(Columns)();
}

void MultiplyPanels(const float* a, const float* b, int64_t depth, const ProductBlock& block,
                    bool accumulate) {
  HWY_DYNAMIC_DISPATCH(Panels)(a, b, depth, block, accumulate);
}

}  // namespace muster::kernels
#endif  // HWY_ONCE
