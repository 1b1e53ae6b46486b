#include "agent/node/discovered_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/model/machine/device_link.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ProcessorFlags kOld{.v2 = true};
const FoundPrograms kAllPrograms{.gpu_aware_mpi = true, .criu = true, .containers = true};
const ProcessorFlags kNew{.v2 = true, .v3 = true, .v4 = true};

TEST(DiscoveredFeatures, AProcessorHasItsLevelAndThoseBelow) {
  EXPECT_THAT(DiscoveredFeatures(Machine(), kOld, {}), ElementsAre("x86-64-v2"));
  EXPECT_THAT(DiscoveredFeatures(Machine(), kNew, {}),
              ElementsAre("x86-64-v2", "x86-64-v3", "x86-64-v4"));
  EXPECT_THAT(DiscoveredFeatures(Machine(), ProcessorFlags(), {}), IsEmpty());
}

TEST(DiscoveredFeatures, AnArmProcessorSaysWhatItHasAndHowLongItsVectorsAre) {
  // A Neoverse V1: 256 bits of SVE; and an N1, which has none.
  constexpr unsigned long kAtomicsAndProducts = 1UL << 8 | 1UL << 20;
  const ProcessorFlags v1{
      .arm = ArmFeatures(kAtomicsAndProducts | 1UL << 22, 1UL << 13 | 1UL << 14, 256)};
  EXPECT_THAT(DiscoveredFeatures(Machine(), v1, {}),
              ElementsAre("lse", "dotprod", "i8mm", "bf16", "sve", "sve-256"));
  EXPECT_THAT(ArmFeatures(kAtomicsAndProducts, 0, 0), ElementsAre("lse", "dotprod"));
  EXPECT_THAT(ArmFeatures(1UL << 22, 1UL << 1 | 1UL << 23, 128),
              ElementsAre("sve", "sve2", "sme", "sve-128"));
  EXPECT_THAT(ArmFeatures(0, 0, 0), IsEmpty());
  Machine played;
  played.enforced = false;
  EXPECT_THAT(DiscoveredFeatures(played, v1, {}), IsEmpty());
}

TEST(DiscoveredFeatures, NvLinkIsALinkOfThatKindAndRdmaADeviceOfTheFabric) {
  Machine machine;
  machine.gpus.resize(2);
  machine.gpu_links.resize(1);
  machine.gpu_links[0].kind = LinkKind::kSwitch;
  machine.nics.resize(1);
  EXPECT_THAT(DiscoveredFeatures(machine, ProcessorFlags(), {}), IsEmpty());
  machine.gpu_links[0].kind = LinkKind::kNvLink;
  EXPECT_THAT(DiscoveredFeatures(machine, ProcessorFlags(), {}), ElementsAre("nvlink"));
  machine.nics[0].fabric = true;
  EXPECT_THAT(DiscoveredFeatures(machine, ProcessorFlags(), kAllPrograms),
              ElementsAre("nvlink", "rdma", "gpu-aware-mpi", "criu", "containers"));
}

TEST(DiscoveredFeatures, ANodeThatPlaysAnotherMachineFindsNoneButContainers) {
  Machine machine;
  machine.enforced = false;
  EXPECT_THAT(DiscoveredFeatures(machine, kNew, kAllPrograms), ElementsAre("containers"));
}

TEST(DiscoveredFeatures, ANodeSaysThatItMakesCopiesOfDataAlsoOneThatPlays) {
  Machine played;
  played.enforced = false;
  EXPECT_THAT(DiscoveredFeatures(Machine(), ProcessorFlags(), {.staging = true}),
              ElementsAre("staging"));
  EXPECT_THAT(DiscoveredFeatures(played, kNew, {.staging = true}), ElementsAre("staging"));
}

TEST(DiscoveredFeatures, ANodeSaysForWhichMachineItsImagesAre) {
  const FoundPrograms programs{.containers = true, .machine = "arm64"};
  EXPECT_THAT(DiscoveredFeatures(Machine(), ProcessorFlags(), programs),
              ElementsAre("containers", "containers-arm64"));
  EXPECT_THAT(DiscoveredFeatures(Machine(), ProcessorFlags(), {.machine = "arm64"}), IsEmpty());
  Machine played;
  played.enforced = false;
  EXPECT_THAT(DiscoveredFeatures(played, kNew, programs),
              ElementsAre("containers", "containers-arm64"));
}

TEST(DiscoveredFeatures, WhatIsConfiguredComesFirstAndNothingComesTwice) {
  EXPECT_THAT(AllFeatures({"big", "x86-64-v2"}, {"x86-64-v2", "nvlink"}),
              ElementsAre("big", "x86-64-v2", "nvlink"));
}

TEST(DiscoveredFeatures, AnMpiSaysItselfWhetherItTakesGpuMemory) {
  EXPECT_TRUE(HasGpuAwareMpi(FAKE_MPI_GPU_AWARE));
  EXPECT_FALSE(HasGpuAwareMpi(FAKE_MPI_PLAIN));
  EXPECT_FALSE(HasGpuAwareMpi("libnobody-has-this.so"));
}

TEST(DiscoveredFeatures, ALevelIsNeverHadWithoutTheOneBelow) {
  const ProcessorFlags flags = FlagsOfThisProcessor();
  EXPECT_TRUE(flags.v2 || !flags.v3);
  EXPECT_TRUE(flags.v3 || !flags.v4);
}

}  // namespace
}  // namespace muster::agent
