#include "cli/render/job_sheet.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/render/samples.h"

namespace muster {
namespace {

using samples::Golden;
using samples::kNow;

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
