#include "scheduler/core/plan/availability/need.h"

#include <gtest/gtest.h>

namespace muster::core {
namespace {

TEST(LaterNeed, AShareIsLookedForAsAWholeGpuAndIsOfAnotherShape) {
  ResourceRequest request;
  request.gpu_share = GpuShare(250);
  const Need now{.request = &request, .shape = 17};
  const Need later = LaterNeed(now);
  EXPECT_TRUE(later.whole_gpus);
  EXPECT_NE(later.shape, now.shape);
  EXPECT_EQ(LaterNeed(later).shape, later.shape);
}

TEST(LaterNeed, WithoutAShareItIsTheSame) {
  const ResourceRequest request;
  const Need later = LaterNeed({.request = &request, .shape = 17});
  EXPECT_FALSE(later.whole_gpus);
  EXPECT_EQ(later.shape, 17U);
}

}  // namespace
}  // namespace muster::core
