#include "agent/kernels/mpi/grid.h"

#include <algorithm>
#include <cstdlib>

namespace muster::kernels {
namespace {

bool Fits(ProcessGrid grid, int64_t nx, int64_t ny) {
  return grid.rows <= ny && grid.cols <= nx;
}

}  // namespace

TileRange TileOf(int64_t nx, int64_t ny, ProcessGrid grid, int row, int col) {
  return {BlockRange(ny, grid.rows, row), BlockRange(nx, grid.cols, col)};
}

std::optional<ProcessGrid> FitProcessGrid(ProcessGrid preferred, int64_t nx, int64_t ny) {
  const int longer = std::max(preferred.rows, preferred.cols);
  const int shorter = std::min(preferred.rows, preferred.cols);
  const ProcessGrid turned = nx > ny ? ProcessGrid{shorter, longer} : ProcessGrid{longer, shorter};
  if (Fits(turned, nx, ny)) {
    return turned;
  }
  const int processes = preferred.rows * preferred.cols;
  std::optional<ProcessGrid> best;
  for (int rows = 1; rows <= processes; ++rows) {
    const ProcessGrid grid{rows, processes / rows};
    if (processes % rows != 0 || !Fits(grid, nx, ny)) {
      continue;
    }
    if (!best.has_value() || std::abs(grid.rows - grid.cols) < std::abs(best->rows - best->cols)) {
      best = grid;
    }
  }
  return best;
}

}  // namespace muster::kernels
