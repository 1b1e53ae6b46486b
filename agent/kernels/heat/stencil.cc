#include "agent/kernels/heat/stencil.h"

#include <cmath>
#include <limits>
#include <utility>

#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

constexpr double kNorthEdge = 1.0;
constexpr double kWestEdge = 0.75;
constexpr double kSouthEdge = 0.5;
constexpr double kEastEdge = 0.25;

// Fewer cells than this are not worth waking a team for.
constexpr int64_t kParallelCells = 16384;

constexpr int64_t RoundUp(int64_t n, int64_t step) {
  return (n + step - 1) / step * step;
}

void UpdateRow(const double* __restrict north, const double* __restrict here,
               const double* __restrict south, double alpha, IndexRange cols,
               double* __restrict out) {
  for (int64_t j = cols.begin; j < cols.end; ++j) {
    out[j] =
        here[j] + alpha * (((north[j] + south[j]) + (here[j - 1] + here[j + 1])) - 4 * here[j]);
  }
}

bool Owns(const TileRange& range, int64_t row, int64_t col) {
  return row >= range.rows.begin && row < range.rows.end && col >= range.cols.begin &&
         col < range.cols.end;
}

bool OnEdge(const Plate& plate, int64_t row, int64_t col) {
  return row < 0 || row >= plate.ny || col < 0 || col >= plate.nx;
}

}  // namespace

double InitialValue(const Plate& plate, int64_t row, int64_t col) {
  if (row < 0) {
    return kNorthEdge;
  }
  if (row >= plate.ny) {
    return kSouthEdge;
  }
  if (col < 0) {
    return kWestEdge;
  }
  if (col >= plate.nx) {
    return kEastEdge;
  }
  return SeededUnit(plate.seed, static_cast<uint64_t>(row * plate.nx + col));
}

Tile::Tile(int64_t rows, int64_t cols)
    : rows_(rows),
      cols_(cols),
      stride_(RoundUp(kPad + cols + 1, kPad)),
      cells_((rows + 2) * stride_) {}

int64_t Tile::BytesOf(int64_t rows, int64_t cols) {
  return (rows + 2) * RoundUp(kPad + cols + 1, kPad) * static_cast<int64_t>(sizeof(double));
}

void FillTile(const Plate& plate, const TileRange& range, Tile* tile) {
#pragma omp parallel for schedule(static) default(none) shared(plate, range, tile)
  for (int64_t i = -1; i <= tile->rows(); ++i) {
    double* row = tile->Row(i);
    for (int64_t j = -1; j <= tile->cols(); ++j) {
      const int64_t global_row = range.rows.begin + i;
      const int64_t global_col = range.cols.begin + j;
      const bool known =
          Owns(range, global_row, global_col) || OnEdge(plate, global_row, global_col);
      row[j] = known ? InitialValue(plate, global_row, global_col)
                     : std::numeric_limits<double>::quiet_NaN();
    }
  }
}

void UpdateCells(const Tile& from, double alpha, IndexRange rows, IndexRange cols, Tile* to) {
  const bool worth = rows.size() > 1 && rows.size() * cols.size() >= kParallelCells;
#pragma omp parallel for schedule(static) if (worth) default(none) \
    shared(from, alpha, rows, cols, to)
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    UpdateRow(from.Row(i - 1), from.Row(i), from.Row(i + 1), alpha, cols, to->Row(i));
  }
}

void UpdateInterior(const Tile& from, double alpha, Tile* to) {
  UpdateCells(from, alpha, {1, from.rows() - 1}, {1, from.cols() - 1}, to);
}

void UpdateRim(const Tile& from, double alpha, Tile* to) {
  const int64_t rows = from.rows();
  const int64_t cols = from.cols();
  UpdateCells(from, alpha, {0, 1}, {0, cols}, to);
  if (rows > 1) {
    UpdateCells(from, alpha, {rows - 1, rows}, {0, cols}, to);
  }
  UpdateCells(from, alpha, {1, rows - 1}, {0, 1}, to);
  if (cols > 1) {
    UpdateCells(from, alpha, {1, rows - 1}, {cols - 1, cols}, to);
  }
}

ExactSum UpdateNorm(const Tile& before, const Tile& after) {
  ExactSum total;
#pragma omp parallel default(none) shared(before, after, total)
  {
    ExactSum own;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < after.rows(); ++i) {
      const double* old_row = before.Row(i);
      const double* new_row = after.Row(i);
      for (int64_t j = 0; j < after.cols(); ++j) {
        const double change = new_row[j] - old_row[j];
        own.Add(change * change);
      }
    }
#pragma omp critical(muster_update_norm)
    total.Merge(own);
  }
  return total;
}

Solution SolveSerial(const Plate& plate, int64_t steps) {
  const int64_t width = plate.nx + 2;
  std::vector<double> now(static_cast<size_t>((plate.ny + 2) * width));
  const auto at = [width](int64_t row, int64_t col) {
    return static_cast<size_t>((row + 1) * width + col + 1);
  };
  for (int64_t i = -1; i <= plate.ny; ++i) {
    for (int64_t j = -1; j <= plate.nx; ++j) {
      now[at(i, j)] = InitialValue(plate, i, j);
    }
  }
  std::vector<double> next = now;
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t i = 0; i < plate.ny; ++i) {
      for (int64_t j = 0; j < plate.nx; ++j) {
        const double old = now[at(i, j)];
        const double column = now[at(i - 1, j)] + now[at(i + 1, j)];
        const double row = now[at(i, j - 1)] + now[at(i, j + 1)];
        next[at(i, j)] = old + plate.alpha * ((column + row) - 4 * old);
      }
    }
    std::swap(now, next);
  }
  Solution solution;
  ExactSum squares;
  solution.field.reserve(static_cast<size_t>(plate.nx * plate.ny));
  for (int64_t i = 0; i < plate.ny; ++i) {
    for (int64_t j = 0; j < plate.nx; ++j) {
      const double change = now[at(i, j)] - next[at(i, j)];
      squares.Add(change * change);
      solution.field.push_back(now[at(i, j)]);
    }
  }
  solution.residual = std::sqrt(squares.Value());
  return solution;
}

}  // namespace muster::kernels
