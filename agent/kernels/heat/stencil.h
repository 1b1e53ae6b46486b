#pragma once

// Heat diffusion on a plate by the 5-point Jacobi stencil: the problem, a tile of it, one update,
// and a plain serial solution to compare with.
//
//   new = old + alpha * ((north + south) + (west + east) - 4 old)
//
// The edges are held at fixed temperatures, the inside starts from seeded values in [0, 1); alpha
// <= 1/4 keeps every value in [0, 1]. A cell's arithmetic is the same wherever it lies, so the
// field has the same bits for every decomposition (compile without fused multiply-add contraction).
// Thread promise: functions on tiles open their own OpenMP team; one caller at a time.

#include <cstdint>
#include <vector>

#include "agent/kernels/heat/exact_sum.h"
#include "agent/kernels/mpi/grid.h"
#include "agent/kernels/place/memory.h"
#include "agent/kernels/place/partition.h"

namespace muster::kernels {

// A plate of ny rows and nx columns.
struct Plate {
  int64_t nx = 0;
  int64_t ny = 0;
  double alpha = 0.25;
  uint64_t seed = 1;
};

// The temperature at the start of the cell (row, col); with row -1 or ny, col -1 or nx: of that
// edge, for ever.
double InitialValue(const Plate& plate, int64_t row, int64_t col);

// rows x cols cells in a ring of one halo cell. Cell (0, 0) of each row is aligned to a cache line.
class Tile {
 public:
  // REQUIRES: rows, cols >= 1. data() of the storage may be null: check allocated().
  Tile(int64_t rows, int64_t cols);

  // Bytes that a tile of this shape takes.
  static int64_t BytesOf(int64_t rows, int64_t cols);

  bool allocated() const { return cells_.data() != nullptr; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t stride() const { return stride_; }

  // Cell 0 of `row`, which may be -1..rows(); its halo cells are at [-1] and [cols()].
  double* Row(int64_t row) { return cells_.data() + (row + 1) * stride_ + kPad; }
  const double* Row(int64_t row) const { return cells_.data() + (row + 1) * stride_ + kPad; }

 private:
  static constexpr int64_t kPad = kAlignment / static_cast<int64_t>(sizeof(double));

  int64_t rows_;
  int64_t cols_;
  int64_t stride_;
  AlignedArray cells_;
};

// Fills `tile`, which holds the cells `range` of the plate, by parallel first touch: cells and
// edges with their initial values, halo cells that another tile owns with NaN until they are
// received.
void FillTile(const Plate& plate, const TileRange& range, Tile* tile);

// Updates the cells rows x cols (numbered inside the tile) of `to` from `from`.
void UpdateCells(const Tile& from, double alpha, IndexRange rows, IndexRange cols, Tile* to);

// Updates the cells that need no halo.
void UpdateInterior(const Tile& from, double alpha, Tile* to);

// Updates the cells that UpdateInterior leaves: the outer ring of the tile, each once.
void UpdateRim(const Tile& from, double alpha, Tile* to);

// The exact sum over all cells of (after - before)^2, each square rounded to a double.
ExactSum UpdateNorm(const Tile& before, const Tile& after);

// The whole field, row after row, and the L2 norm of its last update.
struct Solution {
  std::vector<double> field;
  double residual = 0;
};

// The solution after `steps` >= 1 steps by two plain loops, without tiles or threads.
Solution SolveSerial(const Plate& plate, int64_t steps);

}  // namespace muster::kernels
