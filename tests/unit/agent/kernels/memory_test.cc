#include "agent/kernels/place/memory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace muster::kernels {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMiB = int64_t{1} << 20;

// A directory that stands for the root of a machine's /proc and /sys.
class AvailableBytesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "muster-memory-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    Write("/proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:   1048576 kB\n");
  }

  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const fs::path file = root_ + path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root_;
};

TEST_F(AvailableBytesTest, IsWhatTheMachineHasWithoutCgroups) {
  EXPECT_EQ(AvailableBytes(root_), 1024 * kMiB);
}

TEST_F(AvailableBytesTest, IsZeroWhenNothingCanBeRead) {
  EXPECT_EQ(AvailableBytes(root_ + "/absent"), 0);
}

TEST_F(AvailableBytesTest, IsBoundedByTheTightestGroupOfVersionTwo) {
  Write("/proc/self/cgroup", "0::/job/rank\n");
  Write("/sys/fs/cgroup/job/rank/memory.max", "max\n");
  Write("/sys/fs/cgroup/job/memory.max", std::to_string(100 * kMiB) + "\n");
  Write("/sys/fs/cgroup/job/memory.current", std::to_string(60 * kMiB) + "\n");
  Write("/sys/fs/cgroup/job/memory.stat",
        "anon 5\ninactive_file " + std::to_string(20 * kMiB) + "\n");
  EXPECT_EQ(AvailableBytes(root_), 60 * kMiB);
}

TEST_F(AvailableBytesTest, IsBoundedByAGroupOfVersionOne) {
  Write("/proc/self/cgroup", "9:cpu,cpuacct:/x\n7:memory:/job\n0::/\n");
  Write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", std::to_string(50 * kMiB));
  Write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", std::to_string(10 * kMiB));
  EXPECT_EQ(AvailableBytes(root_), 40 * kMiB);
}

TEST_F(AvailableBytesTest, IsZeroInAGroupThatIsFull) {
  Write("/proc/self/cgroup", "0::/job\n");
  Write("/sys/fs/cgroup/job/memory.max", "4096\n");
  Write("/sys/fs/cgroup/job/memory.current", "8192\n");
  EXPECT_EQ(AvailableBytes(root_), 0);
}

TEST_F(AvailableBytesTest, LargeLimitsDoNotRaiseIt) {
  Write("/proc/self/cgroup", "3:memory:/\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(AvailableBytes(root_), 1024 * kMiB);
}

TEST(AvailableBytesOfThisMachineTest, IsNotZero) {
  EXPECT_GT(AvailableBytes(), 0);
}

TEST(AlignedArrayTest, StartsOnACacheLineAndHoldsItsElements) {
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{9}, int64_t{300000}}) {
    AlignedArray array(size);
    ASSERT_NE(array.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % kAlignment, 0U);
    EXPECT_EQ(array.size(), size);
    for (int64_t i = 0; i < size; ++i) {
      array.data()[i] = static_cast<double>(i);
    }
  }
}

}  // namespace
}  // namespace muster::kernels
