#include "cli/sheet/job_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/page/quantity.h"
#include "cli/sheet/usage_text.h"
#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

using samples::Golden;
using samples::kNow;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(JobSheet, AnEndedJobShowsWhereEachRankWasPlannedAndFound) {
  EXPECT_EQ(PrintJobSheet(samples::EndedDetail(), kNow, {}), Golden("show_ended.txt"));
}

TEST(JobSheet, AWaitingJobShowsItsReason) {
  JobDetail detail;
  detail.job = samples::QueueJobs().back();
  detail.request = samples::EndedDetail().request;
  detail.request.max_nodes = 4;
  detail.work_dir = "/home/alice";
  detail.stdout_path = detail.stderr_path = "/home/alice/muster-30.out";
  EXPECT_EQ(PrintJobSheet(detail, kNow, {}), Golden("show_waiting.txt"));
}

TEST(JobSheet, ARunningJobShowsForHowLongAndWhatIsNotYetReadBack) {
  JobDetail detail = samples::EndedDetail();
  detail.job = samples::QueueJobs().front();
  detail.job.account.clear();
  detail.attempts[0].end_time = kNoTime;
  detail.attempts[0].ranks.resize(1);
  RankView& rank = detail.attempts[0].ranks[0];
  rank.found_cpus.clear();
  rank.found_mem_policy.clear();
  rank.found_gpus.clear();
  rank.gpus.clear();
  rank.verdict = "unread";
  EXPECT_EQ(PrintJobSheet(detail, kNow, {}), Golden("show_running.txt"));
}

TEST(JobSheet, RanksShowWhatTheirGpusCountedAndWhichErrorsTheyMet) {
  JobDetail detail = samples::EndedDetail();
  AttemptView& attempt = detail.attempts[0];
  ASSERT_GE(attempt.ranks.size(), 2U);
  EXPECT_THAT(PrintJobSheet(detail, kNow, {}), Not(HasSubstr("GPU WORK")));
  attempt.ranks[0].gpu_work = GpuRates{Duration(1000), 0.97, 0.4, 0.84, std::nullopt, std::nullopt};
  attempt.gpu_errors = {"rank 0 on n1 met XID 79 on GPU GPU-a"};
  const std::string page = PrintJobSheet(detail, kNow, {});
  EXPECT_THAT(page, HasSubstr("GPU WORK"));
  EXPECT_THAT(page, HasSubstr("SMs 97 %, tensor 40 %, memory 84 %"));
  EXPECT_THAT(page, HasSubstr("  GPU error  rank 0 on n1 met XID 79 on GPU GPU-a\n"));
}

TEST(JobSheet, AnAttemptShowsWhenItWasSuspendedAndResumedAndWhy) {
  JobDetail detail = samples::EndedDetail();
  const Time begin = detail.attempts[0].start_time + std::chrono::seconds(10);
  const std::string moment = MomentText(begin, Style().zone);
  const std::string end = MomentText(begin + std::chrono::seconds(90), Style().zone);
  detail.attempts[0].suspensions = {{begin, begin + std::chrono::seconds(90), "preempted by job 8"},
                                    {begin + std::chrono::seconds(90), kNoTime, ""}};
  const std::string page = PrintJobSheet(detail, kNow, {});
  EXPECT_THAT(page, HasSubstr(absl::StrCat(moment, " to ", end, ", for ")));
  EXPECT_THAT(page, HasSubstr(": preempted by job 8\n"));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("since ", end, "\n")));
}

TEST(JobSheet, ARunningJobShowsWhatItHasUsedSoFarOnEachNode) {
  JobDetail detail = samples::EndedDetail();
  detail.job.state = "RUNNING";
  detail.job.end_time = kNoTime;
  detail.attempts[0].end_time = kNoTime;
  detail.attempts[0].ranks.clear();
  NodeUsage node{"node1", detail.job.start_time + std::chrono::seconds(90), {}};
  node.usage.user_cpu = std::chrono::seconds(170);
  node.usage.system_cpu = std::chrono::seconds(10);
  node.usage.group_memory = kGibibyte;
  node.usage.gpu_busy = std::chrono::seconds(45);
  node.usage.gpu_memory = kGibibyte * 3;
  node.usage.gpu_energy_mj = 36'000'000;
  node.usage.cpu_energy_mj = 18'000'000;
  detail.live_usage = {node};
  const std::string partly = PrintJobSheet(detail, kNow, {});
  EXPECT_THAT(partly, HasSubstr(" on 1 of its nodes: CPU time 3:00 (user 2:50, system 0:10.00)\n"));
  EXPECT_THAT(partly, Not(HasSubstr("efficiency"))) << "of what it has there, nobody knows";
  node.node = "node2";
  node.time += std::chrono::seconds(10);
  node.usage.user_cpu = std::chrono::seconds(20);
  detail.live_usage.push_back(node);
  const std::string page = PrintJobSheet(detail, kNow, {});
  EXPECT_THAT(page, HasSubstr(": CPU time 3:30 (user 3:10, system 0:20.00), CPU efficiency 26 %, "
                              "memory 2 GiB of 4 GiB (50 %)\n"));
  EXPECT_THAT(page, HasSubstr("GPU use    45 % of 2 GPUs, at most 3 GiB of one, 20.0 Wh\n"));
  EXPECT_THAT(page, HasSubstr("energy     10.0 Wh of CPUs, 20.0 Wh of GPUs, 30.0 Wh in all\n"));
  EXPECT_THAT(page, HasSubstr("NODE   CPUTIME  CPUS-BUSY    MEM  GPUS-BUSY  GPU-MEM   ENERGY\n"));
  EXPECT_THAT(page, HasSubstr("node1     3:00       2.00  1 GiB       0.50    3 GiB  15.0 Wh\n"));
  EXPECT_THAT(page, HasSubstr("node2  0:30.00       0.30  1 GiB       0.45    3 GiB  15.0 Wh\n"));
}

TEST(JobSheet, WhatAJobDidAndWhatBoundsItIsKnownOnceAllItsNodesHaveSpoken) {
  JobDetail detail = samples::EndedDetail();
  detail.job.state = "RUNNING";
  detail.job.end_time = kNoTime;
  detail.attempts[0].end_time = kNoTime;
  detail.attempts[0].ranks.clear();
  NodeUsage node{"node1", detail.job.start_time + std::chrono::seconds(100), {}};
  node.usage.user_cpu = std::chrono::seconds(10);
  node.usage.peak_memory = kMebibyte;
  node.usage.read_bytes = kGibibyte;
  node.usage.written_bytes = kMebibyte;
  node.usage.io_blocked = std::chrono::seconds(10);
  node.usage.gpu_counted = std::chrono::seconds(100);
  node.usage.sm_active = std::chrono::seconds(95);
  node.usage.tensor_active = std::chrono::seconds(1);
  node.usage.dram_active = std::chrono::seconds(80);
  detail.live_usage = {node};
  EXPECT_THAT(PrintJobSheet(detail, kNow, {}), Not(HasSubstr("bound by")));
  node.node = "node2";
  node.usage.io_blocked.reset();
  detail.live_usage.push_back(node);
  const std::string page = PrintJobSheet(detail, kNow, {});
  EXPECT_THAT(page, HasSubstr("GPU work   SMs 95 %, tensor cores 1 %, device memory 80 % of its "
                              "bandwidth\n"));
  EXPECT_THAT(page, HasSubstr("I/O        2 GiB read (20.5 MiB/s), 2 MiB written (20.5 KiB/s), "
                              "waits for storage 5 % of the time\n"));
  EXPECT_THAT(page, HasSubstr("bound by   memory: SMs 95 %, tensor cores 1 %"));
  EXPECT_THAT(page, HasSubstr("NODE   CPUTIME  CPUS-BUSY  MEM   READ  WRITTEN  IO-WAIT\n"));
  EXPECT_THAT(page, HasSubstr("node1  0:10.00       0.10    -  1 GiB    1 MiB     10 %\n"));
  EXPECT_THAT(page, HasSubstr("node2  0:10.00       0.10    -  1 GiB    1 MiB        -\n"));
}

TEST(JobSheet, WhatWasNotMeasuredIsNotMentioned) {
  JobDetail detail = samples::EndedDetail();
  EXPECT_THAT(PrintJobSheet(detail, kNow, {}), Not(HasSubstr("energy")));
  detail.attempts[0].usage.cpu_energy_mj = 7000;
  EXPECT_THAT(PrintJobSheet(detail, kNow, {}), HasSubstr("energy     7 J of CPUs\n"));
}

TEST(JobSheet, WhatNobodyMeasuredSaysSo) {
  JobDetail detail = samples::EndedDetail();
  detail.attempts[0].usage = Usage();
  const std::string page = PrintJobSheet(detail, kNow, {});
  EXPECT_THAT(page, HasSubstr("  used       not sampled\n"));
  EXPECT_THAT(page, HasSubstr("  GPU use    not sampled\n"));
  EXPECT_THAT(page, Not(HasSubstr("0 %")));
}

TEST(JobSheet, OneNodeOfSeveralWhoseGpusOrEnergyNobodyKnowsHasNoNumber) {
  const Time start = kNow - std::chrono::seconds(100);
  NodeUsage told{"node1", kNow, {}};
  told.usage.user_cpu = std::chrono::seconds(10);
  told.usage.gpu_busy = std::chrono::seconds(50);
  told.usage.gpu_memory = kGibibyte;
  told.usage.gpu_energy_mj = 36'000'000;
  NodeUsage quiet{"node2", kNow, {}};
  quiet.usage.user_cpu = std::chrono::seconds(10);
  EXPECT_EQ(PrintNodeUsage({told, quiet}, start, {}),
            "  NODE   CPUTIME  CPUS-BUSY  MEM  GPUS-BUSY  GPU-MEM   ENERGY\n"
            "  node1  0:10.00       0.10    -       0.50    1 GiB  10.0 Wh\n"
            "  node2  0:10.00       0.10    -          -        -        -\n");
}

TEST(JobSheet, WhatEachNodeSentAndForHowLongItsNetworkWasBusyStandsBesideIt) {
  const Time start = kNow - std::chrono::seconds(100);
  NodeUsage told{"node1", kNow, {}};
  told.usage.net_sent = kGibibyte;
  told.usage.net_received = kMebibyte;
  told.usage.net_blocked = std::chrono::seconds(62);
  NodeUsage quiet{"node2", kNow, {}};
  told.usage.user_cpu = quiet.usage.user_cpu = std::chrono::seconds(10);
  EXPECT_EQ(PrintNodeUsage({told, quiet}, start, {}),
            "  NODE   CPUTIME  CPUS-BUSY  MEM   SENT  RECEIVED  NET-BUSY\n"
            "  node1  0:10.00       0.10    -  1 GiB     1 MiB      62 %\n"
            "  node2  0:10.00       0.10    -      -         -         -\n");
}

PlacementQuality Worth(std::uint64_t nanoseconds) {
  PlacementQuality worth;
  worth.ranks = worth.local_ranks = 2;
  worth.predicted = {{"allreduce", kGibibyte, nanoseconds, "ring", 0, ""}};
  return worth;
}

TEST(JobSheet, CollectivesArePredictedForJobsOfSeveralNodesOrGpus) {
  JobDetail detail = samples::EndedDetail();
  detail.placement = Worth(2'000'000);
  detail.job.nodes = {"node1", "node2"};
  detail.job.gpus = 0;
  EXPECT_THAT(PrintJobSheet(detail, kNow, {}), HasSubstr("all-reduce of 1 GiB in 2 ms (ring)\n"));
  detail.job.nodes = {"node1"};
  EXPECT_THAT(PrintJobSheet(detail, kNow, {}), Not(HasSubstr("all-reduce"))) << "a rank or two";
  detail.job.gpus = 2;
  EXPECT_THAT(PrintJobSheet(detail, kNow, {}), HasSubstr("all-reduce of 1 GiB in 2 ms (ring)\n"));
  detail.placement = Worth(0);
  EXPECT_THAT(PrintJobSheet(detail, kNow, {}), Not(HasSubstr("all-reduce"))) << "nobody to send to";
}

TEST(JobSheet, ARequestIsOneSentence) {
  ResourceRequest request;
  EXPECT_EQ(RequestText(request), "1 task, 1 cpu each");
  request.tasks = 8;
  request.min_nodes = 1;
  request.max_nodes = 4;
  request.tasks_per_node = 2;
  request.memory_per_cpu = kMebibyte * 512;
  request.gpus = {.type = "", .count = 4};
  request.exclusive = true;
  request.overcommit = true;
  EXPECT_EQ(RequestText(request),
            "8 tasks, 1 cpu each, 1 to 4 nodes, 2 tasks a node, 512 MiB a cpu, 4 GPUs in all, "
            "whole nodes, overcommitted");
}

}  // namespace
}  // namespace muster::cli
