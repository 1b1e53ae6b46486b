#include "cli/sheet/node_table.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

std::vector<NodeView> SampleNodes() {
  NodeView played = samples::SampleNode(48);
  played.name = "node12";
  played.binding = "recorded, not enforced (it plays dgx.xml)";
  played.limits = "not enforced (it plays dgx.xml)";
  played.state = "IDLE";
  played.cpus_taken = 0;
  played.memory_taken = Bytes(0);
  played.gpus_taken = 0;
  NodeView drained = samples::SampleNode(2);
  drained.name = "node13";
  drained.state = "DOWN+DRAIN";
  drained.reason = "bad fan";
  drained.gpus = 0;
  drained.limits = "pids; not memory (the control group /m does not offer it)";
  NodeView whole = samples::SampleNode(2);
  whole.limits = "cpuset, memory, pids";
  return {whole, played, drained};
}

TEST(NodeTable, EachNodeShowsWhatIsTakenOfAll) {
  EXPECT_EQ(PrintNodes(SampleNodes(), true, {}), samples::Golden("nodes.txt"));
}

TEST(NodeTable, HealthHasAColumnOnceANodeWasChecked) {
  std::vector<NodeView> nodes = SampleNodes();
  EXPECT_EQ(PrintNodes(nodes, true, {}).find("HEALTH"), std::string::npos);
  nodes[1].health = "slow: clock";
  EXPECT_NE(PrintNodes(nodes, true, {}).find("slow: clock  -\n"), std::string::npos);
}

TEST(NodeTable, WhatBecomesOfGpusThatAreDividedIsTold) {
  std::vector<NodeView> nodes = SampleNodes();
  nodes[0].reason = "disk";
  GpuLayout layout;
  layout.instances = {{"3g.71gb", 9, {0, 4}}};
  layout.phase = LayoutPhase::kOrdered;
  layout.job = JobId(5);
  nodes[0].gpu_layouts = {layout};
  const std::string page = PrintNodes(nodes, true, {});
  EXPECT_NE(page.find("disk; GPU 0 of node " + nodes[0].name +
                      " is being divided into 1 x 3g.71gb for job 5\n"),
            std::string::npos)
      << page;
}

TEST(NodeTable, WhoUsesGpusOutsideOfJobsIsNamed) {
  std::vector<NodeView> nodes = SampleNodes();
  nodes[0].reason.clear();
  nodes[0].gpu_occupants = {{1, 4711, "alice", "python", Bytes(std::uint64_t{12} << 30U)}};
  nodes[1].reason = "disk";
  nodes[1].gpu_occupants = nodes[0].gpu_occupants;
  const std::string page = PrintNodes(nodes, true, {});
  const std::string used = "1 GPU of node " + nodes[0].name +
                           " is used by pid 4711 (alice, python, 12 GiB) outside Muster\n";
  EXPECT_NE(page.find("  " + used), std::string::npos) << page;
  EXPECT_NE(page.find("disk; 1 GPU of node " + nodes[1].name), std::string::npos) << page;
}

TEST(NodeTable, StatesOutOfServiceAreRed) {
  EXPECT_EQ(NodePaint("DOWN"), Paint::kRed);
  EXPECT_EQ(NodePaint("IDLE+DRAIN"), Paint::kRed);
  EXPECT_EQ(NodePaint("ALLOCATED"), Paint::kYellow);
  EXPECT_EQ(NodePaint("MIXED"), Paint::kGreen);
}

}  // namespace
}  // namespace muster::cli
