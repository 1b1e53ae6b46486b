#include "agent/kernels/place/placement.h"

#include <gtest/gtest.h>

namespace muster::kernels {
namespace {

TEST(CpuListTextTest, JoinsRuns) {
  EXPECT_EQ(CpuListText({}), "");
  EXPECT_EQ(CpuListText({5}), "5");
  EXPECT_EQ(CpuListText({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(CpuListText({0, 2, 4, 5}), "0,2,4-5");
}

TEST(PlacementTest, ThisThreadRunsOnACpuItMayUse) {
  EXPECT_TRUE(AllowedCpus().contains(CurrentPlace().cpu));
}

}  // namespace
}  // namespace muster::kernels
