#include "scheduler/core/plan/availability/first_ends.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;

TEST(FirstEnds, NodesAreDueFromTheirFirstEndOn) {
  FirstEnds ends(3);
  ends.Set(0, At(10));
  ends.Set(1, At(20));
  ends.Set(0, At(30));  // that job has ended
  std::set<std::uint32_t> due;
  ends.AddDue(At(19), due);
  EXPECT_TRUE(due.empty());
  ends.AddDue(At(20), due);
  EXPECT_EQ(due, (std::set<std::uint32_t>{1}));
  ends.Set(1, kFarFuture);
  due.clear();
  ends.AddDue(kFarFuture, due);
  EXPECT_EQ(due, (std::set<std::uint32_t>{0}));
  EXPECT_EQ(ends.Of(2), kFarFuture);
}

}  // namespace
}  // namespace muster::core
