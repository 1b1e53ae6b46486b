#include "agent/kernels/cpu/matrix_product.h"

#include <omp.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "agent/kernels/cpu/micro_kernel.h"
#include "agent/kernels/place/memory.h"

namespace muster::kernels {
namespace {

// A block of A (120 KiB) stays in the second-level cache, a panel of B (depth x a tile's width) in
// the first-level one, the block of B (4 MiB) in the last-level one.
constexpr int64_t kBlockRows = 20 * kTileRows;
constexpr int64_t kBlockDepth = 256;
constexpr int64_t kBlockColumns = 4096;

// Blocks of B that are packed at once: a barrier stands between packing and multiplying, and each
// costs a turn of the scheduler where others use the machine. More than the last-level cache holds
// of it would come from memory for each block of rows.
constexpr int64_t kPackedBytes = int64_t{32} << 20;

// A block of rows for each thread at the least this often, so that no thread waits for the last
// one.
constexpr int64_t kBlocksOfThread = 4;

struct Factors {
  int64_t rows;
  int64_t columns;
  int64_t depth;
  const float* a;
  const float* b;
  float* c;
  Blocking blocking;
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

int64_t RoundedUp(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

// How much of the depth is packed at once: whole blocks, one at the least. The same for narrower
// columns, so that one buffer holds any of them.
int64_t PackedDepth(const Factors& f) {
  const int64_t block = RoundedUp(f.blocking.columns, TileColumns()) * f.blocking.depth;
  const int64_t most = kPackedBytes / (block * static_cast<int64_t>(sizeof(float)));
  return std::max<int64_t>(1, most) * f.blocking.depth;
}

// What some columns of B add to C over some of the depth. Called by every thread of the team.
void MultiplyPart(const Factors& f, Range columns, Range depth, float* packed_b, float* packed_a) {
  const int64_t width = TileColumns();
  const int64_t packed_columns = RoundedUp(columns.size, width);
  const auto block_at = [&](int64_t k) {
    return Range{depth.begin + k, std::min(f.blocking.depth, depth.size - k)};
  };
#pragma omp for schedule(static) collapse(2)
  for (int64_t k = 0; k < depth.size; k += f.blocking.depth) {
    for (int64_t j = 0; j < columns.size; j += width) {
      const Range block = block_at(k);
      PackPanelOfB(f, block, columns.begin + j, std::min(width, columns.size - j),
                   packed_b + packed_columns * k + j * block.size);
    }
  }
#pragma omp for schedule(dynamic)
  for (int64_t i = 0; i < f.rows; i += f.blocking.rows) {
    const Range rows = {i, std::min(f.blocking.rows, f.rows - i)};
    const ProductBlock part = {f.c + i * f.columns + columns.begin, f.columns, rows.size,
                               columns.size};
    for (int64_t k = 0; k < depth.size; k += f.blocking.depth) {
      const Range block = block_at(k);
      PackA(f, rows, block, packed_a);
      MultiplyPanels(packed_a, packed_b + packed_columns * k, block.size, part, block.begin > 0);
    }
  }
}

// All of C. Called by every thread of the team.
void MultiplyAll(const Factors& f, float* packed_b, float* packed_a) {
  const int64_t step = PackedDepth(f);
  for (int64_t j = 0; j < f.columns; j += f.blocking.columns) {
    const Range columns = {j, std::min(f.blocking.columns, f.columns - j)};
    for (int64_t k = 0; k < f.depth; k += step) {
      MultiplyPart(f, columns, {k, std::min(step, f.depth - k)}, packed_b, packed_a);
    }
  }
}

// Elements of a packed block of B that is so wide and deep at most.
int64_t BlockOfB(int64_t columns, int64_t depth) {
  return RoundedUp(columns, TileColumns()) * depth;
}

// Memory that is kept from one product to the next: to take it again, and to touch its pages for
// the first time, would cost a small product as much as its arithmetic.
float* Kept(std::optional<Aligned<float>>* memory, int64_t size) {
  if (!memory->has_value() || (*memory)->size() < size) {
    memory->emplace(size);
    if ((*memory)->data() == nullptr) {
      memory->reset();
      return nullptr;
    }
  }
  return (*memory)->data();
}

// Zeros filled in, and nothing larger than the product.
Blocking Fitted(Blocking blocking, int64_t rows, int64_t columns, int64_t depth) {
  const Blocking rule = BlockingFor(rows, omp_get_max_threads());
  blocking.rows = blocking.rows > 0 ? blocking.rows : rule.rows;
  blocking.depth = std::min(blocking.depth > 0 ? blocking.depth : rule.depth, depth);
  blocking.columns = std::min(blocking.columns > 0 ? blocking.columns : rule.columns,
                              RoundedUp(columns, TileColumns()));
  return blocking;
}

}  // namespace

bool IsBlocking(const Blocking& blocking) {
  constexpr int64_t kRowsMost = 4096 / kTileRows * kTileRows;
  constexpr int64_t kDepthMost = 4096;
  constexpr int64_t kColumnsMost = 16384;
  const auto fits = [](int64_t size, int64_t step, int64_t most) {
    return size >= 0 && size <= most && size % step == 0;
  };
  // A panel of B must not begin in the middle of another.
  return fits(blocking.rows, kTileRows, kRowsMost) && fits(blocking.depth, 1, kDepthMost) &&
         fits(blocking.columns, TileColumns(), kColumnsMost);
}

Blocking BlockingFor(int64_t rows, int64_t threads) {
  const int64_t share = rows / std::max<int64_t>(1, kBlocksOfThread * threads);
  return {std::clamp(RoundedUp(share, kTileRows), 4 * kTileRows, kBlockRows), kBlockDepth,
          RoundedUp(kBlockColumns, TileColumns())};
}

bool MatrixProduct(const ProductShape& shape, const float* a, const float* b, float* c,
                   const Blocking& blocking) {
  static std::optional<Aligned<float>> of_a;
  static std::optional<Aligned<float>> of_b;
  const auto [rows, columns, depth] = shape;
  const Factors f = {rows, columns, depth, a, b, c, Fitted(blocking, rows, columns, depth)};
  const int64_t block_of_a = RoundedUp(f.blocking.rows * f.blocking.depth, 64);
  const int64_t packed_depth = std::min(depth, PackedDepth(f));
  float* const packed_b = Kept(&of_b, BlockOfB(f.blocking.columns, packed_depth));
  float* const packed_a = Kept(&of_a, block_of_a * omp_get_max_threads());
  if (packed_a == nullptr || packed_b == nullptr) {
    return false;
  }
#pragma omp parallel default(none) shared(f, packed_a, packed_b, block_of_a)
  MultiplyAll(f, packed_b, packed_a + block_of_a * omp_get_thread_num());
  return true;
}

int64_t PanelBytes(int64_t threads) {
  return std::max(kPackedBytes,
                  BlockOfB(kBlockColumns, kBlockDepth) * static_cast<int64_t>(sizeof(float))) +
         kBlockRows * kBlockDepth * threads * static_cast<int64_t>(sizeof(float));
}

double ProductTolerance(int64_t depth, double largest_a, double largest_b) {
  const auto terms = static_cast<double>(depth);
  return (terms + 1) * static_cast<double>(std::numeric_limits<float>::epsilon()) * terms *
         largest_a * largest_b;
}

}  // namespace muster::kernels
