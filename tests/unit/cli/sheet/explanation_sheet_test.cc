#include "cli/sheet/explanation_sheet.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

using samples::Golden;
using samples::kNow;

NodeAllocation Part(const std::string& name, std::uint32_t first_rank, bool gpus) {
  NodeAllocation part;
  part.node = NodeId(first_rank + 1);
  part.name = name;
  part.cpus = CpuSet::Of({0, 1, 2, 3});
  part.mem_nodes = NumaSet::Of({0});
  part.memory = kGibibyte * 2;
  for (std::uint32_t i = 0; i < 2; ++i) {
    RankPlacement rank;
    rank.rank = first_rank + i;
    rank.cpus = CpuSet::Of({2 * i, 2 * i + 1});
    rank.mem_nodes = part.mem_nodes;
    if (gpus) {
      rank.gpus = {i};
      part.gpus.push_back({.gpu = i, .share = i == 0 ? kWholeGpu : GpuShare(500)});
    }
    part.ranks.push_back(rank);
  }
  return part;
}

TEST(ExplanationSheet, AWaitingJobShowsWhatEachNodeLacks) {
  JobExplanation explanation;
  explanation.job = samples::QueueJobs()[3];
  explanation.summary = "2 nodes: 1 short of 3 cores (has 1), 1 drained";
  explanation.nodes = {{.node = "node1", .fits = false, .text = "short of 3 cores (has 1)"},
                       {.node = "node2", .fits = false, .text = "drained: bad fan"},
                       {.node = "node3", .fits = true, .text = ""}};
  EXPECT_EQ(PrintExplanation(explanation, kNow, {}), Golden("explain_waiting.txt"));
}

TEST(ExplanationSheet, ARunningJobShowsItsBindingMapAsATree) {
  JobExplanation explanation;
  explanation.job = samples::QueueJobs()[0];
  explanation.job.binding = "verified 4/4";
  explanation.nodes = {{.node = "node1", .fits = true, .text = "least left over"}};
  explanation.allocation.nodes = {Part("node1", 0, true), Part("node2", 2, false)};
  EXPECT_EQ(PrintExplanation(explanation, kNow, {}), Golden("explain_running.txt"));
}

TEST(ExplanationSheet, OfAJobOnOneNodeNoCollectiveIsPredicted) {
  JobExplanation explanation;
  explanation.job = samples::Running(1, "sleep", {"node1"}, std::chrono::seconds(5));
  explanation.placement.ranks = explanation.placement.local_ranks = 1;
  explanation.placement.predicted = {{"allreduce", kGibibyte, 200'000'000, "ring", 0, ""}};
  EXPECT_EQ(PrintExplanation(explanation, kNow, {}).find("all-reduce"), std::string::npos);
  explanation.job.nodes = {"node1", "node2"};
  EXPECT_NE(PrintExplanation(explanation, kNow, {}).find("all-reduce of 1 GiB in 200 ms (ring)"),
            std::string::npos);
}

TEST(ExplanationSheet, AnEndedJobSaysHow) {
  JobExplanation explanation;
  explanation.job = samples::Ended(3, "slow", "TIMEOUT", 0, 15);
  explanation.job.exit_text = "reached its time limit of 0:01:00";
  EXPECT_EQ(PrintExplanation(explanation, kNow, {}), Golden("explain_ended.txt"));
}

TEST(ExplanationSheet, AJobThatNeverStartedSaysSo) {
  JobExplanation explanation;
  explanation.job = samples::HistoryJobs().back();
  explanation.summary = "cancelled by alice";
  EXPECT_EQ(PrintExplanation(explanation, kNow, {}),
            "job 5 CANCELLED: cancelled by alice\n"
            "  ended 2026-03-14 09:26:53 without having started\n");
}

}  // namespace
}  // namespace muster::cli
