#include "cli/links/gpu_links.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

std::vector<Gpu> TwoGpus() {
  std::vector<Gpu> gpus(2);
  gpus[0].pci_address = "0000:1b:00.0";
  gpus[1].pci_address = "0000:43:00.0";
  return gpus;
}

TEST(GpuLinks, AGpuIsKnownByItsAddressInWhateverForm) {
  EXPECT_EQ(GpuAt(TwoGpus(), "00000000:43:00.0", 0), "GPU 1");
  EXPECT_EQ(GpuAt(TwoGpus(), "0000:1B:00.0", 1), "GPU 0");
}

TEST(GpuLinks, AGpuWithoutAKnownAddressIsNamedByItsRank) {
  EXPECT_EQ(GpuAt(TwoGpus(), "", 1), "GPU of rank 1");
  EXPECT_EQ(GpuAt(TwoGpus(), "0000:99:00.0", 0), "GPU of rank 0");
}

}  // namespace
}  // namespace muster::cli
