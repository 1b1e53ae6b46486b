// Grids and groups as the planner lays them out on captured machines, beside block order.
#include "tests/bench/layout_judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "topology/captured/captured.h"

namespace muster::core {
namespace {

using bench::JudgedLayout;
using bench::JudgedRequest;
using bench::JudgeLayout;
using bench::LayoutsOf;
using bench::Numberings;

std::shared_ptr<const Machine> Captured(const std::string& name) {
  return std::make_shared<const Machine>(
      topology::ReadCapturedMachine(absl::StrCat(MUSTER_FIXTURES, "/topology/", name)).value());
}

std::string H200() {
  return absl::StrCat("h200x4.xml+", MUSTER_FIXTURES, "/topology/h200x4.topo_m.txt");
}

// How many layouts could be judged on it.
std::size_t ExpectNeverWorse(const std::string& name) {
  const std::shared_ptr<const Machine> machine = Captured(name);
  std::size_t judged = 0;
  for (const std::uint32_t nodes : {1U, 2U, 4U}) {
    for (std::uint32_t ranks = 4; ranks <= 32; ranks *= 2) {
      for (const JudgedRequest& request : LayoutsOf(ranks)) {
        const std::optional<JudgedLayout> layout =
            JudgeLayout(machine, nodes, request, Numberings::kOursAndBlock);
        judged += layout.has_value() ? 1 : 0;
        EXPECT_TRUE(!layout.has_value() || layout->ours <= layout->block)
            << request.name << ", " << ranks << " ranks on " << nodes << " of " << name << ": "
            << absl::StrJoin(layout->ours, " ") << ", in block order "
            << absl::StrJoin(layout->block, " ");
      }
    }
  }
  return judged;
}

TEST(LayoutJudgeTest, NoLayoutOnACapturedMachineIsWorseThanBlockOrder) {
  for (const std::string& name :
       {std::string("nvidiaDGX2.xml"), std::string("ndv2-topo.xml"), std::string("ndv4-topo.xml"),
        std::string("ndv5-topo.xml"), std::string("ncv4-topo.xml"),
        std::string("power8gpudistances.xml"), std::string("8x4090-dual-socket.topo-m.txt"),
        H200()}) {
    EXPECT_GT(ExpectNeverWorse(name), 0U) << name;
  }
}

TEST(LayoutJudgeTest, NoGridOnACapturedMachineWithoutGpusIsWorseThanBlockOrder) {
  for (const char* name :
       {"16amd64-8n2c-cpusets.xml", "Zhaoxin-2xKH-40000.xml", "40intel64-2g2n4c+pcilocality.xml"}) {
    EXPECT_GT(ExpectNeverWorse(name), 0U) << name;
  }
}

// Small enough that every numbering can be tried: the bench prints the same of any machine.
TEST(LayoutJudgeTest, OnSmallMachinesNoNumberingIsBetter) {
  const auto machine = std::make_shared<const Machine>(
      topology::ReadCapturedMachine("pack:2 numa:1 core:4 pu:1").value());
  for (const std::uint32_t nodes : {1U, 2U, 4U}) {
    for (const std::uint32_t ranks : {4U, 8U}) {
      for (const JudgedRequest& request : LayoutsOf(ranks)) {
        const std::optional<JudgedLayout> layout =
            JudgeLayout(machine, nodes, request, Numberings::kAll);
        if (layout.has_value()) {
          EXPECT_EQ(layout->ours, layout->best.value())
              << request.name << " on " << nodes << " nodes";
        }
      }
    }
  }
}

TEST(LayoutJudgeTest, AWorseOrderCostsMore) {
  const JudgedLayout layout{{0, 5}, {0, 7}, {}};
  EXPECT_LT(layout.ours, layout.block);
  EXPECT_EQ(LayoutsOf(3).size(), 0U);
  EXPECT_FALSE(JudgeLayout(Captured("2gpu-phb.topo-m.txt"), 1, LayoutsOf(64).back(),
                           Numberings::kOursAndBlock)
                   .has_value());
}

}  // namespace
}  // namespace muster::core
