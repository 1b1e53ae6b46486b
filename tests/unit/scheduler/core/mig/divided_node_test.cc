#include "scheduler/core/mig/divided_node.h"

#include <gtest/gtest.h>

#include <memory>

#include "scheduler/core/mig/mig_classes.h"
#include "scheduler/core/place/request.h"
#include "tests/unit/scheduler/core/builders.h"
#include "tests/unit/scheduler/core/mig/h200.h"

namespace muster::core {
namespace {

const std::vector<MigInstance> kHalves = {{"3g.71gb", 9, {0, 4}}, {"3g.71gb", 9, {4, 4}}};

class DividedNode : public ::testing::Test {
 protected:
  DividedNode() {
    Machine machine = testing::MakeMachine({.cores = 8});
    testing::AddH200s(3, machine);
    machine.gpu_links = {{0, 1, LinkKind::kNvLink, 18, 0}, {1, 2, LinkKind::kNvLink, 18, 0}};
    node_.id = NodeId(1);
    node_.name = "n1";
    node_.up = true;
    node_.machine = std::make_shared<const Machine>(machine);
    node_.taken.gpus.resize(3);
  }
  [[nodiscard]] const MigGpu& GpuAt(std::size_t at) const { return node_.machine->mig[at]; }

  NodeSnapshot node_;
};

TEST_F(DividedNode, GpusThatAreUsedKeepTheirPositionsWhenOthersAreDividedAndMadeWhole) {
  node_.taken.gpus[1] = kWholeGpu;
  const NodeSnapshot divided = Divided(node_, GpuAt(0), kHalves);
  ASSERT_EQ(divided.machine->gpus.size(), 4U);
  EXPECT_EQ(divided.machine->gpus[0].model, "NVIDIA H200 MIG 3g.71gb");
  EXPECT_EQ(divided.machine->gpus[1].uuid, "GPU-1");
  EXPECT_EQ(divided.machine->gpus[2].uuid, "GPU-2");
  EXPECT_EQ(divided.machine->gpus[3].parent, "GPU-0");
  EXPECT_EQ(divided.machine->gpu_links,
            (std::vector<DeviceLink>{{1, 2, LinkKind::kNvLink, 18, 0}}));
  EXPECT_EQ(divided.taken.gpus,
            (std::vector<GpuShare>{GpuShare(), kWholeGpu, GpuShare(), GpuShare()}));
  const NodeSnapshot whole = Divided(divided, GpuAt(0), {});
  ASSERT_EQ(whole.machine->gpus.size(), 3U);
  EXPECT_EQ(whole.machine->gpus[0].uuid, "GPU-0");
  EXPECT_EQ(whole.machine->gpus[1].uuid, "GPU-1");
  EXPECT_TRUE(IsLaidOut(*divided.machine, GpuAt(0), kHalves));
  EXPECT_FALSE(IsLaidOut(*divided.machine, GpuAt(0), {}));
  EXPECT_TRUE(IsLaidOut(*whole.machine, GpuAt(0), {}));
}

TEST_F(DividedNode, AGpuIsNotMadeWholeWhileThatWouldMoveOneInUse) {
  NodeSnapshot node = Divided(Divided(node_, GpuAt(0), kHalves), GpuAt(2), kHalves);
  ASSERT_EQ(node.machine->gpus.size(), 5U);
  const std::uint32_t last = 4;
  node.taken.gpus[last] = kWholeGpu;
  const std::string other = node.machine->gpus[last].parent == "GPU-0" ? "GPU-2" : "GPU-0";
  EXPECT_FALSE(CanKeepPositions(*node.machine, node.taken, other, 0));
  EXPECT_TRUE(CanKeepPositions(*node.machine, node.taken, other, 2));
  EXPECT_TRUE(IsGpuIdle(*node.machine, node.taken, {}, other));
  EXPECT_FALSE(IsGpuIdle(*node.machine, node.taken, {}, node.machine->gpus[last].parent));
}

TEST_F(DividedNode, OfSeveralProfilesTheSmallestIsMeant) {
  EXPECT_EQ(ProfileFor(GpuAt(0), {"1g.18gb", 1})->name, "1g.18gb");
  EXPECT_EQ(ProfileFor(GpuAt(0), {"1G.18GB+ME", 1})->name, "1g.18gb+me");
  EXPECT_EQ(ProfileFor(GpuAt(0), {"1g", 1})->name, "1g.18gb");
  EXPECT_EQ(ProfileFor(GpuAt(0), {"h200", 1}), nullptr);
  EXPECT_EQ(ProfileFor(GpuAt(0), {"", 1}), nullptr);
  EXPECT_TRUE(IsWholeOfKind(GpuAt(0), {"h200", 1}));
}

TEST_F(DividedNode, AnInstanceIsForWhoNamesItsProfileWhereMusterDivides) {
  Gpu instance = Divided(node_, GpuAt(0), kHalves).machine->gpus[0];
  EXPECT_TRUE(IsOfKind(instance, {"3g.71gb", 1}));
  EXPECT_FALSE(IsOfKind(instance, {"h200", 1}));
  EXPECT_FALSE(IsOfKind(instance, {"", 1}));
  instance.by_name = false;
  EXPECT_TRUE(IsOfKind(instance, {"h200", 1}));
  EXPECT_TRUE(IsOfKind(instance, {"", 1}));
}

TEST_F(DividedNode, WithoutItsUsersNothingOfThemIsTaken) {
  Holding holding;
  holding.job = JobId(7);
  holding.cpus = testing::Cpus("0-3");
  holding.gpus = {{0, kWholeGpu}};
  node_.holdings = {holding};
  node_.taken.cpus = testing::Cpus("0-5");
  node_.taken.gpus[0] = kWholeGpu;
  const NodeSnapshot without = WithoutUsersOf(node_, "GPU-0");
  EXPECT_TRUE(without.holdings.empty());
  EXPECT_EQ(without.taken.cpus, testing::Cpus("4-5"));
  EXPECT_TRUE(without.taken.gpus[0].zero());
}

TEST(MigClasses, AMachineKeepsOfMigWhatItsClassAllows) {
  Machine machine = testing::MakeMachine({.cores = 8});
  testing::AddH200s(1, machine);
  MigClass kind{"a", "n[1-2]", {{{"3g.71gb", "3g.71gb"}}}};
  const std::vector<MigClass> classes = {kind};
  const MigClasses index(classes);
  EXPECT_EQ(index.Of("n2"), &classes[0]);
  EXPECT_EQ(index.Of("n3"), nullptr);
  Machine allowed = machine;
  KeepAllowedMig(&kind, allowed);
  ASSERT_EQ(allowed.mig.size(), 1U);
  EXPECT_NE(ProfileFor(allowed.mig[0], {"3g.71gb", 1}), nullptr);
  EXPECT_EQ(ProfileFor(allowed.mig[0], {"1g.18gb", 1}), nullptr);
  KeepAllowedMig(nullptr, machine);
  EXPECT_TRUE(machine.mig.empty());
}

}  // namespace
}  // namespace muster::core
