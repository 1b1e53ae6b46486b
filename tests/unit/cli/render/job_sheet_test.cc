#include "cli/render/job_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/render/samples.h"

namespace muster {
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

TEST(JobSheet, WhatWasNotMeasuredIsNotMentioned) {
  JobDetail detail = samples::EndedDetail();
  EXPECT_THAT(PrintJobSheet(detail, kNow, {}), Not(HasSubstr("energy")));
  detail.attempts[0].usage.cpu_energy_mj = 7000;
  EXPECT_THAT(PrintJobSheet(detail, kNow, {}), HasSubstr("energy     7 J of CPUs\n"));
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
}  // namespace muster
