#include "agent/kernels/heat/stencil.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace muster::kernels {
namespace {

TileRange Whole(const Plate& plate) {
  return {{0, plate.ny}, {0, plate.nx}};
}

void Step(const Plate& plate, Tile* now, Tile* next) {
  UpdateInterior(*now, plate.alpha, next);
  UpdateRim(*now, plate.alpha, next);
}

TEST(StencilTest, OneCellMovesTowardsTheMeanOfItsFourEdges) {
  const Plate plate = {1, 1, 0.25, 1};
  Tile now(1, 1);
  Tile next(1, 1);
  FillTile(plate, Whole(plate), &now);
  FillTile(plate, Whole(plate), &next);
  now.Row(0)[0] = 0.5;
  Step(plate, &now, &next);
  // North 1, west 0.75, south 0.5, east 0.25: mean 0.625; alpha 1/4 jumps right there.
  EXPECT_EQ(next.Row(0)[0], 0.625);
  EXPECT_EQ(UpdateNorm(now, next).Value(), 0.125 * 0.125);
}

TEST(StencilTest, TwoByTwoPlateComesOutAsWorkedByHand) {
  const Plate plate = {2, 2, 0.125, 1};
  Tile now(2, 2);
  Tile next(2, 2);
  FillTile(plate, Whole(plate), &now);
  FillTile(plate, Whole(plate), &next);
  now.Row(0)[0] = 0;
  now.Row(0)[1] = 1;
  now.Row(1)[0] = 2;
  now.Row(1)[1] = 4;
  Step(plate, &now, &next);
  EXPECT_EQ(next.Row(0)[0], 0.125 * (1 + 2 + 0.75 + 1));             // 0.59375
  EXPECT_EQ(next.Row(0)[1], 1 + 0.125 * (1 + 4 + 0 + 0.25 - 4));     // 1.15625
  EXPECT_EQ(next.Row(1)[0], 2 + 0.125 * (0 + 0.5 + 0.75 + 4 - 8));   // 1.65625
  EXPECT_EQ(next.Row(1)[1], 4 + 0.125 * (1 + 0.5 + 2 + 0.25 - 16));  // 2.46875
  const double squares =
      0.59375 * 0.59375 + 0.15625 * 0.15625 + 0.34375 * 0.34375 + 1.53125 * 1.53125;
  EXPECT_EQ(UpdateNorm(now, next).Value(), squares);
}

TEST(StencilTest, InteriorAndRimUpdateEveryCellOfEveryShape) {
  for (int64_t rows = 1; rows <= 5; ++rows) {
    for (int64_t cols = 1; cols <= 5; ++cols) {
      const Plate plate = {cols, rows, 0.2, 3};
      Tile now(rows, cols);
      Tile next(rows, cols);
      FillTile(plate, Whole(plate), &now);
      FillTile(plate, Whole(plate), &next);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < cols; ++j) {
          next.Row(i)[j] = NAN;
        }
      }
      Step(plate, &now, &next);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < cols; ++j) {
          ASSERT_FALSE(std::isnan(next.Row(i)[j]))
              << rows << " x " << cols << " at " << i << ", " << j;
        }
      }
    }
  }
}

TEST(StencilTest, TheInteriorNeedsNoHalo) {
  const Plate plate = {30, 30, 0.25, 5};
  const TileRange middle = {{10, 20}, {10, 20}};  // its whole ring belongs to other tiles
  Tile now(10, 10);
  Tile next(10, 10);
  FillTile(plate, middle, &now);
  FillTile(plate, middle, &next);
  ASSERT_TRUE(std::isnan(now.Row(-1)[0]));
  ASSERT_TRUE(std::isnan(now.Row(10)[9]));
  ASSERT_TRUE(std::isnan(now.Row(0)[-1]));
  ASSERT_TRUE(std::isnan(now.Row(9)[10]));
  UpdateInterior(now, plate.alpha, &next);
  for (int64_t i = 0; i < 10; ++i) {
    for (int64_t j = 0; j < 10; ++j) {
      ASSERT_FALSE(std::isnan(next.Row(i)[j]));
    }
  }
}

// OpenMP's runtime is not instrumented: the thread sanitizer would see races that are not there.
#if defined(__SANITIZE_THREAD__)
constexpr int kTeams[] = {1};
#else
constexpr int kTeams[] = {1, 2, 5};
#endif

TEST(StencilTest, TiledStepsGiveTheBitsOfTheSerialSolutionForEveryTeam) {
  const Plate plate = {301, 203, 0.25, 17};  // large enough to wake the team
  const Solution serial = SolveSerial(plate, 9);
  for (const int team : kTeams) {
    omp_set_num_threads(team);
    Tile now(plate.ny, plate.nx);
    Tile next(plate.ny, plate.nx);
    FillTile(plate, Whole(plate), &now);
    FillTile(plate, Whole(plate), &next);
    for (int step = 0; step < 9; ++step) {
      Step(plate, &now, &next);
      std::swap(now, next);
    }
    for (int64_t i = 0; i < plate.ny; ++i) {
      for (int64_t j = 0; j < plate.nx; ++j) {
        ASSERT_EQ(now.Row(i)[j], serial.field[static_cast<size_t>(i * plate.nx + j)]);
      }
    }
    EXPECT_EQ(std::sqrt(UpdateNorm(next, now).Value()), serial.residual);
  }
}

TEST(StencilTest, ThePlateSettlesBetweenItsEdges) {
  const Plate plate = {12, 9, 0.25, 2};
  const Solution early = SolveSerial(plate, 1);
  const Solution late = SolveSerial(plate, 2000);
  EXPECT_GT(early.residual, 0.1);
  EXPECT_LT(late.residual, 1e-12);
  for (const double value : late.field) {
    EXPECT_GT(value, 0.25);
    EXPECT_LT(value, 1.0);
  }
}

TEST(StencilTest, TheSeedChangesTheStart) {
  EXPECT_NE(SolveSerial({8, 8, 0.25, 1}, 1).residual, SolveSerial({8, 8, 0.25, 2}, 1).residual);
}

}  // namespace
}  // namespace muster::kernels
