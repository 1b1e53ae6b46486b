#include "scheduler/core/state/tables/charge.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::At;

JobSpec Limited(Duration limit) {
  JobSpec spec;
  spec.time_limit = limit;
  return spec;
}

TEST(Charge, APartOfASecondOfALimitCountsAsASecond) {
  EXPECT_EQ(WallSeconds(Duration(0)), 0U);
  EXPECT_EQ(WallSeconds(milliseconds(1)), 1U);
  EXPECT_EQ(WallSeconds(milliseconds(1000)), 1U);
  EXPECT_EQ(WallSeconds(hours(1)), 3600U);
}

TEST(Charge, AJobWithoutALimitNeverHasToBeDone) {
  EXPECT_EQ(EndBy(Limited(Duration(0)), At(5)), Time::max());
  EXPECT_EQ(ChargedUntil(Limited(Duration(0)), At(5)), kNoTime);
  EXPECT_EQ(EndBy(Limited(hours(1)), At(5)), At(3605));
  EXPECT_EQ(ChargedUntil(Limited(hours(1)), At(5)), At(3605));
}

TEST(Charge, AnEndBeyondAllTimeIsTheLastTime) {
  EXPECT_EQ(EndBy(Limited(hours(1)), Time::max() - milliseconds(1)), Time::max());
}

TEST(Charge, AJobIsChargedWithWhatItsAllocationHoldsOnAllNodes) {
  JobSpec spec = Limited(hours(1));
  spec.account = "physics";
  spec.user.name = "ada";
  Machine machine;
  machine.gpus.resize(2);
  machine.gpus[1].model = "NVIDIA H100";
  Allocation allocation;
  for (std::uint32_t id = 1; id <= 2; ++id) {
    NodeAllocation part;
    part.node = NodeId(id);
    part.cpus = CpuSet::Of({0, 1, 2});
    part.memory = Bytes(7);
    part.gpus = {GpuGrant{1, kWholeGpu}};
    allocation.nodes.push_back(part);
  }
  const RunningCharge charge = ChargeOf(JobId(3), spec, "", At(5), allocation,
                                        [&](NodeId) -> const Machine& { return machine; });
  EXPECT_EQ(charge.account, "physics");
  EXPECT_EQ(charge.user, "ada");
  EXPECT_EQ(charge.partition, EffectivePartition(""));
  EXPECT_EQ(charge.started, At(5));
  EXPECT_EQ(charge.ends, At(3605));
  EXPECT_EQ(charge.tres.cpus, 6U);
  EXPECT_EQ(charge.tres.memory, 14U);
  EXPECT_EQ(charge.tres.nodes, 2U);
  ASSERT_EQ(charge.tres.gpus.size(), 1U);
  EXPECT_EQ(charge.tres.gpus.begin()->second, 2 * kWholeGpu.value());
}

}  // namespace
}  // namespace muster::core
