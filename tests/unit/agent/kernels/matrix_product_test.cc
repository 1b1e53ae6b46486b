#include "agent/kernels/cpu/matrix_product.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <vector>

#include "agent/kernels/cpu/micro_kernel.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

struct Shape {
  int64_t rows;
  int64_t columns;
  int64_t depth;
};

std::vector<float> Values(uint64_t seed, int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(2 * SeededUnit(seed, i) - 1);
  }
  return values;
}

std::vector<float> Product(const Shape& shape, const std::vector<float>& a,
                           const std::vector<float>& b) {
  std::vector<float> c(static_cast<size_t>(shape.rows * shape.columns),
                       std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(
      MatrixProduct({shape.rows, shape.columns, shape.depth}, a.data(), b.data(), c.data()));
  return c;
}

double WorstError(const Shape& shape) {
  const std::vector<float> a = Values(1, shape.rows * shape.depth);
  const std::vector<float> b = Values(2, shape.depth * shape.columns);
  const std::vector<float> c = Product(shape, a, b);
  double worst = 0;
  for (int64_t i = 0; i < shape.rows; ++i) {
    for (int64_t j = 0; j < shape.columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < shape.depth; ++k) {
        sum += static_cast<double>(a[static_cast<size_t>(i * shape.depth + k)]) *
               static_cast<double>(b[static_cast<size_t>(k * shape.columns + j)]);
      }
      const double error =
          std::abs(static_cast<double>(c[static_cast<size_t>(i * shape.columns + j)]) - sum);
      worst = error >= worst ? error : (error < worst ? worst : HUGE_VAL);
    }
  }
  return worst;
}

TEST(MatrixProductTest, TwoByTwoComesOutAsWorkedByHand) {
  EXPECT_EQ(Product({2, 2, 2}, {1, 2, 3, 4}, {5, 6, 7, 8}), (std::vector<float>{19, 22, 43, 50}));
}

TEST(MatrixProductTest, EveryShapeIsWithinTheStatedBound) {
  EXPECT_TRUE(rc::check("small shapes", [] {
    const Shape shape = {*rc::gen::inRange<int64_t>(1, 40), *rc::gen::inRange<int64_t>(1, 70),
                         *rc::gen::inRange<int64_t>(1, 40)};
    RC_ASSERT(WorstError(shape) <= ProductTolerance(shape.depth, 1, 1));
  }));
}

TEST(MatrixProductTest, ShapesBeyondOneBlockAreWithinTheStatedBound) {
  for (const Shape& shape : {Shape{121, 33, 257}, Shape{245, 17, 513}, Shape{3, 4099, 5}}) {
    EXPECT_LE(WorstError(shape), ProductTolerance(shape.depth, 1, 1));
  }
}

TEST(MatrixProductTest, AFactorThatIsNotPackedAtOnceComesOutRight) {
  // 4,136 columns x 4,100 of depth are 68 MB; the last columns are fewer.
  const Shape shape = {3, 4096 + 40, 4100};
  const std::vector<float> a(static_cast<size_t>(shape.rows * shape.depth), 1);
  const std::vector<float> b(static_cast<size_t>(shape.depth * shape.columns), 1);
  const std::vector<float> c = Product(shape, a, b);
  EXPECT_EQ(c, std::vector<float>(c.size(), static_cast<float>(shape.depth))) << "whole numbers";
}

TEST(MatrixProductTest, NotANumberReachesItsRowOnly) {
  std::vector<float> a(9, 1);
  a[4] = std::numeric_limits<float>::quiet_NaN();  // row 1
  const std::vector<float> c = Product({3, 3, 3}, a, std::vector<float>(9, 2));
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(std::isnan(c[i]), i / 3 == 1) << i;
  }
}

#if !defined(__SANITIZE_THREAD__)
TEST(MatrixProductTest, TheBitsDoNotDependOnTheTeam) {
  const std::vector<float> a = Values(3, 300 * 300);
  const std::vector<float> b = Values(4, 300 * 300);
  omp_set_num_threads(1);
  const std::vector<float> alone = Product({300, 300, 300}, a, b);
  omp_set_num_threads(3);
  EXPECT_EQ(Product({300, 300, 300}, a, b), alone);
}
#endif

TEST(MicroKernelTest, TheTileFitsTheSpaceForItsEdges) {
  EXPECT_GT(TileColumns(), 0);
  EXPECT_LE(TileColumns(), kTileColumnsMax);
}

TEST(MatrixProductTest, AnyBlockSizesComeToTheSameProduct) {
  const Shape shape = {97, 133, 61};
  const std::vector<float> a = Values(1, shape.rows * shape.depth);
  const std::vector<float> b = Values(2, shape.depth * shape.columns);
  const std::vector<float> plain = Product(shape, a, b);
  EXPECT_TRUE(rc::check("as by rule", [&] {
    const Blocking blocking = {kTileRows * *rc::gen::inRange<int64_t>(0, 30),
                               *rc::gen::inRange<int64_t>(0, 200),
                               TileColumns() * *rc::gen::inRange<int64_t>(0, 12)};
    RC_ASSERT(IsBlocking(blocking));
    std::vector<float> c(plain.size(), std::numeric_limits<float>::quiet_NaN());
    RC_ASSERT(MatrixProduct({shape.rows, shape.columns, shape.depth}, a.data(), b.data(), c.data(),
                            blocking));
    for (size_t i = 0; i < c.size(); ++i) {
      RC_ASSERT(std::abs(c[i] - plain[i]) <= static_cast<float>(ProductTolerance(61, 1, 1)));
    }
  }));
}

TEST(MatrixProductTest, SizesThatCannotBeMeantAreNone) {
  for (const Blocking& blocking :
       {Blocking{kTileRows + 1, 0, 0}, Blocking{-kTileRows, 0, 0}, Blocking{0, -1, 0},
        Blocking{0, 1 << 20, 0}, Blocking{0, 0, 1 << 30}}) {
    EXPECT_FALSE(IsBlocking(blocking));
  }
  EXPECT_TRUE(IsBlocking({}));
  EXPECT_TRUE(IsBlocking(BlockingFor(4096, 64)));
}

}  // namespace
}  // namespace muster::kernels
