#include "agent/supervisor/attempt/sampled_usage.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::seconds;

// The first three figures of a file.
Usage OfGpus() {
  Usage usage;
  usage.gpu_busy = Duration(1);
  usage.gpu_memory = Bytes(2);
  usage.gpu_energy_mj = 3;
  return usage;
}

TEST(SampledUsageTest, AFileThatIsNoSampleIsNothingSampled) {
  const TempDirectory directory;
  const std::string path = directory / "sampled";
  EXPECT_EQ(ReadSampledUsage(path), Usage());
  Usage all = OfGpus();
  all.cpu_energy_mj = 4;
  all.user_cpu = Duration(5);
  all.system_cpu = Duration(6);
  all.group_memory = Bytes(7);
  all.peak_memory = Bytes(8);
  all.read_bytes = Bytes(0);
  all.io_blocked = Duration(9);
  all.gpu_counted = Duration(10);
  all.dram_active = Duration(11);
  all.net_sent = Bytes(12);
  all.file_systems = {{"/a b\n", Bytes(1), Bytes(2)}, {"/", Bytes(0), Bytes(3)}};
  WriteSampledUsage(path, all);
  EXPECT_EQ(ReadSampledUsage(path), all);
  std::ofstream(path) << "1 2 3\n";
  EXPECT_EQ(ReadSampledUsage(path), OfGpus()) << "an earlier version's";
  std::ofstream(path) << "1 2 3 4 5 6 7 8\n";
  Usage earlier = OfGpus();
  earlier.cpu_energy_mj = 4;
  earlier.user_cpu = Duration(5);
  earlier.system_cpu = Duration(6);
  earlier.group_memory = Bytes(7);
  earlier.peak_memory = Bytes(8);
  EXPECT_EQ(ReadSampledUsage(path), earlier) << "the version's before storage was counted";
  std::ofstream(path) << "1 2 3 4 5 6 7 8 9 - - 0 - 10 - - 11 - -\n";
  earlier.read_bytes = Bytes(9);
  earlier.gpu_counted = Duration(10);
  earlier.dram_active = Duration(11);
  EXPECT_EQ(ReadSampledUsage(path), earlier) << "the version's before the network was counted";
  for (const char* text : {"", "1 2", "1 2 x", "1 2 3 4", "-1 2 3", "1 2 3 4 5 6 7 8 9"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(ReadSampledUsage(path), Usage()) << text;
  }
}

TEST(SampledUsageTest, TheEndOfAnAttemptHasWhatOnlyTheAgentSaw) {
  Usage sampled = OfGpus();
  sampled.cpu_energy_mj = 4;
  sampled.user_cpu = seconds(9);
  sampled.group_memory = Bytes(70);
  sampled.read_bytes = Bytes(30);
  sampled.io_blocked = seconds(1);
  sampled.sm_active = seconds(2);
  sampled.net_sent = Bytes(5);
  sampled.file_systems = {{"/data", Bytes(30), Bytes(0)}};
  Usage end;
  end.read_bytes = Bytes(40);
  end.written_bytes = Bytes(50);
  end.user_cpu = seconds(10);
  end.group_memory = Bytes(50);
  AddSampled(sampled, end);
  EXPECT_EQ(end.user_cpu, seconds(10)) << "what the kernel says of children is exact";
  EXPECT_EQ(end.cpu_energy_mj, 4U);
  EXPECT_EQ(end.gpu_energy_mj, 3U);
  EXPECT_EQ(end.group_memory, Bytes(70));
  EXPECT_EQ(end.read_bytes, Bytes(40)) << "the kernel counted it to the end";
  EXPECT_EQ(end.written_bytes, Bytes(50));
  EXPECT_EQ(end.io_blocked, seconds(1)) << "without a group nobody else knows";
  EXPECT_EQ(end.sm_active, seconds(2));
  EXPECT_EQ(end.net_sent, Bytes(5));
  EXPECT_EQ(end.file_systems, sampled.file_systems);
}

}  // namespace
}  // namespace muster::agent
