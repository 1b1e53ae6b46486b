#include "scheduler/model/machine/mig.h"

#include <gtest/gtest.h>

#include "scheduler/model/machine/gpu_positions.h"

namespace muster {
namespace {

TEST(MigText, InstancesAreCountedByProfile) {
  EXPECT_EQ(InstancesText({}), "one whole GPU");
  EXPECT_EQ(
      InstancesText({{"1g.10gb", 19, {0, 1}}, {"3g.40gb", 9, {4, 4}}, {"1g.10gb", 19, {1, 1}}}),
      "2 x 1g.10gb and 1 x 3g.40gb");
}

TEST(MigText, ALayoutSaysHowFarItIs) {
  GpuLayout layout{"GPU-a", 3, {{"1g.10gb", 19, {0, 1}}}, LayoutPhase::kOrdered, 1, JobId(5),
                   kNoTime, ""};
  EXPECT_EQ(LayoutText("n1", layout),
            "GPU 3 of node n1 is being divided into 1 x 1g.10gb for job 5");
  layout.phase = LayoutPhase::kMade;
  EXPECT_EQ(LayoutText("n1", layout), "GPU 3 of node n1 was divided into 1 x 1g.10gb for job 5");
  EXPECT_EQ(LayoutsText("n1", {layout}), "");
  layout.phase = LayoutPhase::kFailed;
  layout.text = "Insufficient Permissions";
  layout.instances.clear();
  EXPECT_EQ(LayoutsText("n1", {layout}),
            "GPU 3 of node n1 could not be made whole for job 5: Insufficient Permissions");
}

TEST(MigLayoutPhase, ALayoutIsInForceForItsTurnAndAFailureForAWhile) {
  GpuLayout layout;
  layout.since = Time(std::chrono::hours(1));
  EXPECT_TRUE(IsInForce(layout, kNoTime));
  layout.phase = LayoutPhase::kMade;
  EXPECT_TRUE(IsInForce(layout, layout.since + kLayoutTurn - Duration(1)));
  EXPECT_FALSE(IsInForce(layout, layout.since + kLayoutTurn));
  layout.phase = LayoutPhase::kFailed;
  EXPECT_TRUE(IsInForce(layout, layout.since + kLayoutRetry - Duration(1)));
  EXPECT_FALSE(IsInForce(layout, layout.since + kLayoutRetry));
}

Machine MachineWith(const std::vector<std::string>& uuids) {
  Machine machine;
  for (const std::string& uuid : uuids) {
    machine.gpus.emplace_back().uuid = uuid;
  }
  return machine;
}

TEST(GpuPositions, WhatWasThereKeepsItsPlaceAndTheOthersFillTheGaps) {
  Machine machine = MachineWith({"a1", "a2", "a3", "b", "c"});
  machine.gpu_links = {{3, 4, LinkKind::kNvLink, 4, 0}};
  machine.nic_links = {{3, 0, LinkKind::kNode, 0, 0}};
  KeepGpuPositions({"a", "b", "c"}, machine);
  EXPECT_EQ(GpuOrder(machine), (std::vector<std::string>{"a1", "b", "c", "a2", "a3"}));
  EXPECT_EQ(machine.gpu_links, (std::vector<DeviceLink>{{1, 2, LinkKind::kNvLink, 4, 0}}));
  EXPECT_EQ(machine.nic_links, (std::vector<DeviceLink>{{1, 0, LinkKind::kNode, 0, 0}}));
  const std::vector<std::string> divided = GpuOrder(machine);
  Machine whole = MachineWith({"a", "b", "c"});
  KeepGpuPositions(divided, whole);
  EXPECT_EQ(GpuOrder(whole), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(GpuPositions, APlaceThatIsNoLongerThereIsGivenUp) {
  Machine machine = MachineWith({"a", "b", "c3"});
  KeepGpuPositions({"a1", "b", "c1", "a2", "c2", "c3"}, machine);
  EXPECT_EQ(GpuOrder(machine), (std::vector<std::string>{"a", "b", "c3"}));
}

}  // namespace
}  // namespace muster
