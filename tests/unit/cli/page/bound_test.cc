#include "cli/page/bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/model/value/units.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr Had kOnCpus{seconds(100), 2, 4, 0};
constexpr Had kOnGpus{seconds(100), 1, 8, 2};

Usage CpuUse(seconds cpu) {
  Usage usage;
  usage.user_cpu = cpu;
  usage.peak_memory = kMebibyte;
  return usage;
}

// Two GPUs that were counted for all of the time; per cent of each.
Usage Counted(int sms, int tensor, int dram) {
  Usage usage = CpuUse(seconds(20));
  usage.gpu_watched = usage.gpu_counted = seconds(200);
  usage.gpu_busy = seconds(190);
  usage.sm_active = milliseconds(2000 * sms);
  usage.tensor_active = milliseconds(2000 * tensor);
  usage.dram_active = milliseconds(2000 * dram);
  return usage;
}

TEST(Bound, AMultiplicationOfMatricesIsBoundByComputeAndACopyByMemory) {
  EXPECT_EQ(BoundText(Counted(98, 76, 24), kOnGpus),
            "compute: SMs 98 %, tensor cores 76 %, device memory 24 % of its bandwidth");
  EXPECT_EQ(BoundText(Counted(97, 0, 84), kOnGpus),
            "memory: SMs 97 %, tensor cores 0 %, device memory 84 % of its bandwidth");
}

// As an H100 was counted while a program added vectors for 60 s of 77, and multiplied matrices for
// 12 of 19.
TEST(Bound, WhatTheKernelsWaitForIsJudgedByTheTimeInWhichTheyRun) {
  EXPECT_THAT(BoundText(Counted(61, 0, 56), kOnGpus), StartsWith("memory: "));
  EXPECT_THAT(BoundText(Counted(61, 59, 16), kOnGpus), StartsWith("compute: "));
}

TEST(Bound, AGpuWhoseLinksAreFullAndWhoseSmsAreNotCommunicates) {
  Usage usage = Counted(12, 3, 9);
  usage.nvlink_bytes = Bytes(200 * 20'000'000'000ULL);
  usage.pcie_bytes = Bytes(200 * (std::uint64_t{1} << 20));
  EXPECT_EQ(BoundText(usage, kOnGpus),
            "communication: SMs 12 %, tensor cores 3 %, device memory 9 % of its bandwidth, NVLink "
            "18.6 GiB/s and PCIe 1 MiB/s a GPU");
  usage.sm_active = seconds(150);
  EXPECT_THAT(BoundText(usage, kOnGpus), StartsWith("compute: ")) << "it computes meanwhile";
}

TEST(Bound, AGpuThatIsIdleWaitsForWhatTheHostDoes) {
  Usage usage = Counted(12, 3, 9);
  EXPECT_THAT(BoundText(usage, kOnGpus), StartsWith("waiting: SMs 12 %"));
  EXPECT_THAT(BoundText(usage, kOnGpus), HasSubstr("; CPUs busy 2 %, waits for storage not known"));
  usage.user_cpu = seconds(700);
  EXPECT_THAT(BoundText(usage, kOnGpus), StartsWith("waiting for its CPUs: SMs 12 %"));
  usage.io_blocked = seconds(31);
  usage.read_bytes = kMebibyte * 18'000;
  usage.written_bytes = Bytes(0);
  EXPECT_THAT(BoundText(usage, kOnGpus),
              StartsWith("input: 17.6 GiB read (180 MiB/s), 0 B written (0 B/s), waits for storage "
                         "31 % of the time; SMs 12 %"));
}

TEST(Bound, WithoutCountersABusyGpuIsBoundByOneOfTwo) {
  Usage usage = CpuUse(seconds(20));
  EXPECT_EQ(BoundText(usage, kOnGpus), "unknown: its GPUs were not sampled");
  usage.gpu_watched = seconds(160);
  usage.gpu_busy = seconds(144);
  EXPECT_EQ(BoundText(usage, kOnGpus),
            "compute or memory: GPUs busy 90 %, by no performance counters that would tell them "
            "apart");
  usage.gpu_busy = Duration(1);
  EXPECT_THAT(BoundText(usage, kOnGpus), StartsWith("waiting: GPUs busy 0 %"));
  usage.gpu_watched = Duration(0);
  usage.gpu_busy = seconds(180);
  EXPECT_THAT(BoundText(usage, kOnGpus), HasSubstr("GPUs busy 90 %")) << "of an earlier version";
}

TEST(Bound, AJobOfCpusWorksOrReadsOrWritesOrWaits) {
  Usage usage = CpuUse(seconds(372));
  EXPECT_EQ(BoundText(usage, kOnCpus), "compute or memory: CPUs busy 93 %");
  usage = CpuUse(seconds(20));
  EXPECT_EQ(BoundText(usage, kOnCpus),
            "waiting, or input: CPUs busy 5 %, waits for storage not known");
  usage.io_blocked = seconds(10);
  EXPECT_EQ(BoundText(usage, kOnCpus), "waiting: CPUs busy 5 %, waits for storage 5 % of the time");
  usage.io_blocked = seconds(120);
  usage.read_bytes = kMebibyte * 100;
  EXPECT_EQ(BoundText(usage, kOnCpus),
            "input: 100 MiB read (1 MiB/s), not known how much was written, waits for storage 60 % "
            "of the time")
      << "two nodes' time";
  usage.written_bytes = kMebibyte * 200;
  EXPECT_THAT(BoundText(usage, kOnCpus), StartsWith("output: 100 MiB read"));
}

TEST(Bound, ABusyJobOfCpusGoesToMemoryOrNotByWhatItsProcessorsCount) {
  Usage usage = CpuUse(seconds(372));
  usage.instructions = 1'000'000;
  usage.cache_misses = 42'000;
  EXPECT_EQ(BoundText(usage, kOnCpus),
            "memory: CPUs busy 93 %, 42 cache misses in 1,000 instructions");
  usage.cache_misses = 310;
  EXPECT_EQ(BoundText(usage, kOnCpus),
            "compute: CPUs busy 93 %, 0.31 cache misses in 1,000 instructions");
  usage.instructions = 0;
  EXPECT_EQ(BoundText(usage, kOnCpus), "compute or memory: CPUs busy 93 %");
}

TEST(Bound, WhoseConnectionsAreBusyCommunicatesAlsoWhileItsCpusPoll) {
  Usage usage = CpuUse(seconds(390));
  usage.net_sent = kMebibyte * 2400;
  usage.net_received = kMebibyte * 1200;
  usage.net_resent = Bytes(0);
  usage.net_blocked = seconds(124);
  EXPECT_EQ(BoundText(usage, kOnCpus),
            "communication: network busy 62 % of the time, 24 MiB/s sent, CPUs busy 98 %")
      << "of two nodes' time";
  EXPECT_EQ(NetworkText(usage, kOnCpus),
            "at least 2.3 GiB sent (24 MiB/s), 1.2 GiB received (12 MiB/s), busy 62 % of the time");
  usage.net_blocked = seconds(38);
  EXPECT_EQ(BoundText(usage, kOnCpus), "compute or memory: CPUs busy 98 %");
  usage.net_blocked = seconds(60);
  usage.io_blocked = seconds(100);
  EXPECT_THAT(BoundText(usage, kOnCpus), StartsWith("compute or memory: "))
      << "it waits for storage";
  Usage idle = Counted(12, 3, 9);
  idle.net_sent = kMebibyte * 2400;
  idle.net_blocked = seconds(30);
  EXPECT_THAT(BoundText(idle, kOnGpus),
              StartsWith("communication: network busy 30 % of the time, 24 MiB/s sent; SMs 12 %"));
  idle.sm_active = seconds(190);
  EXPECT_THAT(BoundText(idle, kOnGpus), StartsWith("compute: ")) << "it computes meanwhile";
}

TEST(Bound, WhatPortsOfANodeMovedIsAJobsWhereItWasAloneThere) {
  Usage usage = CpuUse(seconds(390));
  EXPECT_EQ(FabricText(usage), "") << "no node has such ports";
  usage.fabric_shared = seconds(100);
  EXPECT_EQ(FabricText(usage),
            "not known: other jobs were on its nodes, whose ports count for all of them");
  usage.fabric_counted = seconds(100);
  usage.fabric_sent = kMebibyte * 120'000;
  usage.fabric_received = kMebibyte * 100;
  usage.fabric_busy = seconds(42);
  usage.fabric_errors = 0;
  EXPECT_EQ(FabricText(usage),
            "117.2 GiB sent (1.2 GiB/s), 100 MiB received (1 MiB/s), 42 % of the rate, 0 errors, "
            "retries not known; in 50 % of the time, when no other job was on its nodes");
  EXPECT_EQ(BoundText(usage, kOnCpus),
            "communication: InfiniBand or RoCE ports at 42 % of their rate, 1.2 GiB/s sent, CPUs "
            "busy 98 %");
}

TEST(Bound, InputNamesTheFileSystemThatMostOfItCameFrom) {
  Usage usage = CpuUse(seconds(20));
  usage.io_blocked = seconds(62);
  usage.read_bytes = kMebibyte * 18'100;
  usage.written_bytes = Bytes(5);
  usage.file_systems = {{"/scratch", kMebibyte * 100, kMebibyte * 90'000},
                        {"/data", kMebibyte * 18'000, Bytes(0)}};
  EXPECT_EQ(BoundText(usage, kOnCpus), "input: ranks wait 31 % on input, 180 MiB/s from /data");
  EXPECT_EQ(FileSystemsText(usage), "/scratch 100 MiB read, 87.9 GiB written; /data 17.6 GiB read");
  usage.called_bytes = kMebibyte * 150'000;
  usage.major_faults = 3;
  EXPECT_EQ(PageCacheText(usage),
            "12 % of the 146.5 GiB that it read by calls came from storage, 3 major page faults");
  usage.called_bytes.reset();
  usage.major_faults.reset();
  EXPECT_EQ(PageCacheText(usage), "");
}

TEST(Bound, WhatNobodyCouldTellIsNotNothing) {
  const Usage none;
  EXPECT_EQ(BoundText(none, kOnCpus), "unknown: not sampled");
  EXPECT_EQ(StorageText(none, kOnCpus), "not sampled");
  EXPECT_EQ(GpuWorkText(none), "");
  EXPECT_EQ(NetworkText(none, kOnCpus), "not sampled, or in a network namespace of its own");
  EXPECT_EQ(FileSystemsText(none), "");
  EXPECT_EQ(BoundText(CpuUse(seconds(1)), {milliseconds(999), 1, 1, 0}),
            "unknown: it ran for less than a second");
  Usage quiet = CpuUse(seconds(1));
  quiet.read_bytes = quiet.written_bytes = Bytes(0);
  EXPECT_EQ(StorageText(quiet, kOnCpus),
            "0 B read (0 B/s), 0 B written (0 B/s), waits for storage not known");
  EXPECT_THAT(StorageText(quiet, kOnCpus), Not(HasSubstr("0 %")));
}

}  // namespace
}  // namespace muster::cli
