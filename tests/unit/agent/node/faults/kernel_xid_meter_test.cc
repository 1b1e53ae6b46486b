#include "agent/node/faults/kernel_xid_meter.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

class TwoGpus final : public topology::GpuMeter {
 public:
  explicit TwoGpus(std::vector<topology::GpuReading>* said) : said_(said) {}
  std::vector<topology::GpuReading> Read() override { return *said_; }

 private:
  std::vector<topology::GpuReading>* said_;
};

class KernelXidMeterTest : public ::testing::Test {
 protected:
  KernelXidMeterTest() : file_(directory_ / "kmsg") {
    said_.resize(2);
    said_[0].uuid = "GPU-a";
    said_[0].pci = "0000:3b:00";
    said_[1].uuid = "an AMD one";
    std::ofstream(file_, std::ios::app);
    meter_ = std::make_unique<KernelXidMeter>(std::make_unique<TwoGpus>(&said_),
                                              KernelXids::Open(file_).value());
  }
  void Log(int xid) {
    std::ofstream(file_, std::ios::app) << "4,1,2,-;NVRM: Xid (PCI:0000:3b:00): " << xid << "\n";
  }
  void Nvml(std::uint64_t xid) {
    topology::GpuReading& gpu = said_[0];
    gpu.xid = gpu.breaking_xid = xid;
    ++gpu.breaking_xids;
    gpu.xids = gpu.xids.value_or(0) + 1;
    ++gpu.xid_counts[xid];
  }

  const TempDirectory directory_;
  const std::string file_;
  std::vector<topology::GpuReading> said_;
  std::unique_ptr<KernelXidMeter> meter_;
};

TEST_F(KernelXidMeterTest, AnErrorThatNvmlAndTheLogTellCountsOnceWhoeverIsFirst) {
  said_[0].xids = 0;
  Log(79);
  topology::GpuReading gpu = meter_->Read().at(0);
  EXPECT_EQ(gpu.xids, 1U);
  EXPECT_EQ(gpu.breaking_xid, 79U);
  EXPECT_EQ(gpu.breaking_xids, 1U);
  EXPECT_EQ(gpu.breaking_by, "the kernel's log");
  Nvml(79);
  gpu = meter_->Glance().at(0);
  EXPECT_EQ(gpu.xids, 1U);
  EXPECT_EQ(gpu.breaking_xids, 1U);
  EXPECT_EQ(gpu.breaking_by, "") << "now its library says so";
  Nvml(48);
  EXPECT_EQ(meter_->Read().at(0).xids, 2U);
  Log(48);
  gpu = meter_->Read().at(0);
  EXPECT_EQ(gpu.xids, 2U);
  EXPECT_EQ(gpu.breaking_xids, 2U);
}

TEST_F(KernelXidMeterTest, AGpuWhoseLibraryTellsNoErrorsTellsThoseOfTheLog) {
  EXPECT_EQ(meter_->Read().at(0).xids, 0U);
  Log(31);
  const std::vector<topology::GpuReading> gpus = meter_->Read();
  EXPECT_EQ(gpus[0].xids, 1U);
  EXPECT_EQ(gpus[0].xid, 31U);
  EXPECT_EQ(gpus[0].breaking_xids, 0U) << "it is a program's own";
  EXPECT_FALSE(gpus[1].xids.has_value()) << "the log has none of that vendor's";
}

}  // namespace
}  // namespace muster::agent
