#include "agent/kernels/mpi/grid.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace muster::kernels {
namespace {

// How often the tiles of `grid` cover each cell; a tile without cells makes the result empty.
std::vector<int> Coverage(int64_t nx, int64_t ny, ProcessGrid grid) {
  std::vector<int> covered(static_cast<size_t>(nx * ny), 0);
  for (int row = 0; row < grid.rows; ++row) {
    for (int col = 0; col < grid.cols; ++col) {
      const TileRange tile = TileOf(nx, ny, grid, row, col);
      if (tile.rows.size() < 1 || tile.cols.size() < 1) {
        return {};
      }
      for (int64_t i = tile.rows.begin; i < tile.rows.end; ++i) {
        for (int64_t j = tile.cols.begin; j < tile.cols.end; ++j) {
          ++covered[static_cast<size_t>(i * nx + j)];
        }
      }
    }
  }
  return covered;
}

TEST(TileOfTest, TilesCoverEveryCellExactlyOnceForAllSmallPlates) {
  int fitted = 0;
  for (int64_t nx = 1; nx <= 9; ++nx) {
    for (int64_t ny = 1; ny <= 9; ++ny) {
      for (int processes = 1; processes <= 12; ++processes) {
        const auto grid = FitProcessGrid({processes, 1}, nx, ny);
        if (!grid.has_value()) {
          continue;
        }
        ++fitted;
        ASSERT_EQ(grid->rows * grid->cols, processes);
        ASSERT_EQ(Coverage(nx, ny, *grid), std::vector<int>(static_cast<size_t>(nx * ny), 1))
            << nx << " x " << ny << " on " << processes;
      }
    }
  }
  EXPECT_GT(fitted, 500);
}

RC_GTEST_PROP(TileOfProperty, TilesCoverEveryCellExactlyOnce, ()) {
  const int64_t nx = *rc::gen::inRange<int64_t>(1, 200);
  const int64_t ny = *rc::gen::inRange<int64_t>(1, 200);
  const int rows = *rc::gen::inRange<int>(1, static_cast<int>(ny) + 1);
  const int cols = *rc::gen::inRange<int>(1, static_cast<int>(nx) + 1);
  RC_ASSERT(Coverage(nx, ny, {rows, cols}) == std::vector<int>(static_cast<size_t>(nx * ny), 1));
}

TEST(FitProcessGridTest, TheLongerSideFollowsTheLongerSideOfThePlate) {
  EXPECT_EQ(FitProcessGrid({3, 2}, 100, 50), (ProcessGrid{2, 3}));
  EXPECT_EQ(FitProcessGrid({3, 2}, 50, 100), (ProcessGrid{3, 2}));
  EXPECT_EQ(FitProcessGrid({3, 2}, 50, 50), (ProcessGrid{3, 2}));
}

TEST(FitProcessGridTest, ANarrowPlateGetsANarrowGrid) {
  EXPECT_EQ(FitProcessGrid({2, 2}, 1, 8), (ProcessGrid{4, 1}));
  EXPECT_EQ(FitProcessGrid({2, 2}, 8, 1), (ProcessGrid{1, 4}));
  EXPECT_EQ(FitProcessGrid({4, 3}, 100, 2), (ProcessGrid{2, 6}));
}

TEST(FitProcessGridTest, MoreRanksThanCellsFitNowhere) {
  EXPECT_EQ(FitProcessGrid({2, 2}, 1, 3), std::nullopt);
  EXPECT_EQ(FitProcessGrid({7, 1}, 3, 3), std::nullopt) << "seven is prime and no side has seven";
}

}  // namespace
}  // namespace muster::kernels
