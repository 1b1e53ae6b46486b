#pragma once

// Who owns which cells: a process grid of rows x columns over a field of ny rows and nx columns.
//
// Invariant: the tiles of a process grid that fits cover every cell exactly once, and none is
// empty.

#include <cstdint>
#include <optional>

#include "agent/kernels/place/partition.h"

namespace muster::kernels {

struct ProcessGrid {
  int rows = 1;
  int cols = 1;

  bool operator==(const ProcessGrid&) const = default;
};

// The cells of one process, in global row and column numbers.
struct TileRange {
  IndexRange rows;
  IndexRange cols;

  bool operator==(const TileRange&) const = default;
};

// The cells of the process at (row, col). REQUIRES: 0 <= row < grid.rows, 0 <= col < grid.cols.
TileRange TileOf(int64_t nx, int64_t ny, ProcessGrid grid, int row, int col);

// A grid of as many processes as `preferred` that gives each one at least a cell: `preferred` with
// its longer side along the longer side of the field, else the nearest to square that fits.
// nullopt: none fits.
std::optional<ProcessGrid> FitProcessGrid(ProcessGrid preferred, int64_t nx, int64_t ny);

}  // namespace muster::kernels
