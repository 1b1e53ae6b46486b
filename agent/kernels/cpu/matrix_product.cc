#include "agent/kernels/cpu/matrix_product.h"

#include <omp.h>

#include <algorithm>
#include <limits>

#include "agent/kernels/cpu/micro_kernel.h"
#include "agent/kernels/harness/memory.h"

namespace muster::kernels {
namespace {

// A block of A (120 KiB) stays in the second-level cache, a panel of B (depth x a tile's width) in
// the first-level one, the block of B (4 MiB) in the last-level one.
constexpr int64_t kBlockRows = 20 * kTileRows;
constexpr int64_t kBlockDepth = 256;
constexpr int64_t kBlockColumns = 4096;

constexpr int64_t kPanelOfA = kBlockRows * kBlockDepth;

struct Factors {
  int64_t rows;
  int64_t columns;
  int64_t depth;
  const float* a;
  const float* b;
  float* c;
};

struct Range {
  int64_t begin;
  int64_t size;
};

// rows x depth of A as panels of kTileRows, zeros below the last row.
void PackA(const Factors& f, Range rows, Range depth, float* out) {
  for (int64_t panel = 0; panel < rows.size; panel += kTileRows) {
    const int64_t inside = std::min(kTileRows, rows.size - panel);
    const float* first = f.a + (rows.begin + panel) * f.depth + depth.begin;
    for (int64_t k = 0; k < depth.size; ++k) {
      for (int64_t i = 0; i < inside; ++i) {
        out[i] = first[i * f.depth + k];
      }
      std::fill(out + inside, out + kTileRows, 0.0F);
      out += kTileRows;
    }
  }
}

// One panel of B: depth x a tile's width, zeros right of the last column.
void PackPanelOfB(const Factors& f, Range depth, int64_t column, int64_t inside, float* out) {
  const int64_t width = TileColumns();
  for (int64_t k = 0; k < depth.size; ++k) {
    const float* row = f.b + (depth.begin + k) * f.columns + column;
    std::copy(row, row + inside, out);
    std::fill(out + inside, out + width, 0.0F);
    out += width;
  }
}

// All of C that one block of B reaches. Called by every thread of the team.
void MultiplyBlock(const Factors& f, Range columns, Range depth, float* packed_b, float* packed_a) {
  const int64_t width = TileColumns();
#pragma omp for schedule(static)
  for (int64_t j = 0; j < columns.size; j += width) {
    PackPanelOfB(f, depth, columns.begin + j, std::min(width, columns.size - j),
                 packed_b + j * depth.size);
  }
#pragma omp for schedule(dynamic)
  for (int64_t i = 0; i < f.rows; i += kBlockRows) {
    const Range rows = {i, std::min(kBlockRows, f.rows - i)};
    PackA(f, rows, depth, packed_a);
    const ProductBlock block = {f.c + i * f.columns + columns.begin, f.columns, rows.size,
                                columns.size};
    MultiplyPanels(packed_a, packed_b, depth.size, block, depth.begin > 0);
  }
}

// All of C. Called by every thread of the team.
void MultiplyAll(const Factors& f, float* packed_b, float* packed_a) {
  for (int64_t j = 0; j < f.columns; j += kBlockColumns) {
    for (int64_t k = 0; k < f.depth; k += kBlockDepth) {
      MultiplyBlock(f, {j, std::min(kBlockColumns, f.columns - j)},
                    {k, std::min(kBlockDepth, f.depth - k)}, packed_b, packed_a);
    }
  }
}

int64_t BlockOfB() {
  const int64_t width = TileColumns();
  return (kBlockColumns + width - 1) / width * width * kBlockDepth;
}

}  // namespace

bool MatrixProduct(int64_t rows, int64_t columns, int64_t depth, const float* a, const float* b,
                   float* c) {
  const Factors f = {rows, columns, depth, a, b, c};
  Aligned<float> packed_b(BlockOfB());
  Aligned<float> packed_a(kPanelOfA * omp_get_max_threads());
  if (packed_a.data() == nullptr || packed_b.data() == nullptr) {
    return false;
  }
#pragma omp parallel default(none) shared(f, packed_a, packed_b)
  MultiplyAll(f, packed_b.data(), packed_a.data() + kPanelOfA * omp_get_thread_num());
  return true;
}

int64_t PanelBytes(int64_t threads) {
  return (BlockOfB() + kPanelOfA * threads) * static_cast<int64_t>(sizeof(float));
}

double ProductTolerance(int64_t depth, double largest_a, double largest_b) {
  const auto terms = static_cast<double>(depth);
  return (terms + 1) * static_cast<double>(std::numeric_limits<float>::epsilon()) * terms *
         largest_a * largest_b;
}

}  // namespace muster::kernels
