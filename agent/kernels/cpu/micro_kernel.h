#pragma once

// The inner loops of the matrix product: a register tile of C that grows by fused multiply-adds
// from packed panels of A and B (Goto, van de Geijn, Anatomy of High-Performance Matrix
// Multiplication, ACM TOMS 34(3), 2008), in the widest SIMD that the processor has.
//
// Thread promise: pure but for C; threads work on blocks of C that do not overlap.

#include <cstdint>

namespace muster::kernels {

// Rows and columns of the register tile on this processor: the heights and widths of packed panels.
constexpr int64_t kTileRows = 6;
int64_t TileColumns();

// The widest tile of any processor.
constexpr int64_t kTileColumnsMax = 1024;

// A block of C, row-major.
struct ProductBlock {
  float* data = nullptr;
  int64_t stride = 0;
  int64_t rows = 0;
  int64_t columns = 0;
};

// block = (or +=, with `accumulate`) A times B, where `a` holds panels of kTileRows x depth, column
// by column, and `b` panels of depth x TileColumns(), row by row; the last panels are filled up
// with zeros.
void MultiplyPanels(const float* a, const float* b, int64_t depth, const ProductBlock& block,
                    bool accumulate);

}  // namespace muster::kernels
