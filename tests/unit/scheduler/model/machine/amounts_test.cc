#include "scheduler/model/machine/amounts.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

NodeAllocation PartOf(std::uint32_t cpus, Bytes memory, std::vector<GpuGrant> gpus) {
  NodeAllocation part;
  for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
    part.cpus.Insert(cpu);
  }
  part.memory = memory;
  part.gpus = std::move(gpus);
  return part;
}

TEST(AmountsTest, PartsOfSeveralNodesAddUpAndASharedGpuIsOneDeviceAndItsThousandths) {
  const Allocation allocation{
      {PartOf(4, Bytes(100), {{0, kWholeGpu}, {3, GpuShare(250)}}), PartOf(2, Bytes(50), {})}};
  EXPECT_EQ(AmountsOf(allocation), (Amounts{6, Bytes(150), 2, 1250}));
  EXPECT_EQ(AmountsOf(Allocation{}), Amounts());
}

TEST(AmountsTest, ARowGetsTheAmountsInItsOwnTypes) {
  struct Row {
    std::uint32_t cpus = 9;
    Bytes memory{9};
    std::uint32_t gpus = 9;
  } row;
  SetAmounts(Amounts{6, Bytes(150), 2, 1250}, row);
  EXPECT_EQ(row.cpus, 6U);
  EXPECT_EQ(row.memory, Bytes(150));
  EXPECT_EQ(row.gpus, 2U);
}

}  // namespace
}  // namespace muster
