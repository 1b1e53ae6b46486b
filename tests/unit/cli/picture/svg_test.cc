// Pictures: well-formed whatever names go in, and nothing of a machine or network left out.

#include "cli/picture/svg.h"

#include <expat.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "cli/picture/machine_svg.h"
#include "cli/picture/network_svg.h"
#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

using samples::Golden;
using samples::SampleNode;

struct Parsed {
  bool well_formed = false;
  std::map<std::string, int> elements;
  std::multiset<std::string> titles;
  std::string text;  // of the element that is read
  std::set<std::string> names;
};

Parsed Parse(const std::string& document) {
  Parsed parsed;
  const XML_Parser parser = XML_ParserCreate(nullptr);
  XML_SetUserData(parser, &parsed);
  XML_SetElementHandler(
      parser,
      [](void* data, const XML_Char* name, const XML_Char** attributes) {
        auto* into = static_cast<Parsed*>(data);
        ++into->elements[name];
        into->text.clear();
        for (; *attributes != nullptr; attributes += 2) {
          into->names.insert(*attributes);
        }
      },
      [](void* data, const XML_Char* name) {
        auto* into = static_cast<Parsed*>(data);
        if (std::string(name) == "title") {
          into->titles.insert(into->text);
        }
      });
  XML_SetCharacterDataHandler(parser, [](void* data, const XML_Char* text, int length) {
    static_cast<Parsed*>(data)->text.append(text, static_cast<std::size_t>(length));
  });
  parsed.well_formed =
      XML_Parse(parser, document.data(), static_cast<int>(document.size()), 1) == XML_STATUS_OK;
  XML_ParserFree(parser);
  return parsed;
}

int Beginning(const Parsed& parsed, const std::string& prefix) {
  int count = 0;
  for (const std::string& title : parsed.titles) {
    count += title.rfind(prefix, 0) == 0 ? 1 : 0;
  }
  return count;
}

std::string Picture(const NodeView& node, const std::vector<SvgOwner>& owners = {}) {
  Svg svg;
  DrawMachine(node.name, node.machine, owners, 12, svg);
  return svg.Document(node.name);
}

TEST(MachineSvg, NamesEveryCoreGpuAndNicOnce) {
  for (const std::uint32_t cores : {1U, 3U, 96U}) {
    NodeView node = SampleNode(cores);
    for (std::uint32_t i = 0; i < 5; ++i) {
      node.machine.gpus.push_back(Gpu());
      node.machine.gpus.back().os_index = 100 + i;
      node.machine.gpus.back().numa = i % 2 == 0 ? 0 : kNowhere;
      node.machine.nics.push_back({absl::StrCat("port", i), "", i % 2 == 0 ? kNowhere : 0});
    }
    const Parsed parsed = Parse(Picture(node));
    ASSERT_TRUE(parsed.well_formed);
    EXPECT_EQ(Beginning(parsed, "core "), static_cast<int>(node.machine.cores.size()));
    for (const Gpu& gpu : node.machine.gpus) {
      EXPECT_EQ(Beginning(parsed, absl::StrCat("GPU ", gpu.os_index, ",")), 1);
    }
    for (const Nic& nic : node.machine.nics) {
      EXPECT_EQ(Beginning(parsed, absl::StrCat("NIC ", nic.name, ",")), 1) << nic.name;
    }
  }
}

TEST(MachineSvg, ASmallMachineIsDrawnAsBefore) {
  NodeView node = SampleNode(3);
  SvgOwner owner;
  owner.name = "rank 0";
  owner.cpus = node.machine.cores.front().cpus;
  EXPECT_EQ(Picture(node, {owner}), Golden("machine.svg"));
}

TEST(MachineSvg, NvLinksAreArcsOrOneBarForAll) {
  NodeView node = SampleNode(1);
  node.machine.gpus.assign(3, Gpu());
  node.machine.gpu_links = {{0, 1, LinkKind::kNvLink, 1, 0},
                            {0, 2, LinkKind::kNvLink, 2, 0},
                            {1, 2, LinkKind::kSystem, 0, 0}};
  Parsed parsed = Parse(Picture(node));
  ASSERT_TRUE(parsed.well_formed);
  EXPECT_EQ(parsed.elements["path"], 2);
  node.machine.gpu_links[2].kind = LinkKind::kNvLink;
  for (DeviceLink& link : node.machine.gpu_links) {
    link.lanes = 18;
  }
  parsed = Parse(Picture(node));
  EXPECT_EQ(parsed.elements["path"], 0);
  EXPECT_EQ(Beginning(parsed, "every two GPUs: NV18"), 1);
}

TEST(MachineSvg, HostileNamesStayText) {
  const std::string hostile =
      std::string("</title><script>alert(1)</script>\"' onload=\"x & ]]>\x01\xff\xEF\xBF\xBF") +
      '\0';
  NodeView node = SampleNode(1);
  node.name = hostile;
  node.machine.packages.assign(1, {0, hostile});
  node.machine.gpus.assign(1, Gpu());
  node.machine.gpus[0].model = hostile;
  node.machine.nics.assign(1, {hostile, hostile, kNowhere});
  SvgOwner owner;
  owner.name = hostile;
  owner.gpus = {0};
  const Parsed parsed = Parse(Picture(node, {owner}));
  ASSERT_TRUE(parsed.well_formed);
  EXPECT_EQ(parsed.elements.count("script"), 0U);
  EXPECT_EQ(parsed.names.count("onload"), 0U);
}

TEST(NetworkSvg, NamesEverySwitchAndNodeOnce) {
  Network network;
  network.switches = {{"spine", SwitchKind::kSwitch, kNowhere, 1, {100'000, 0}},
                      {"a<b", SwitchKind::kSwitch, 0, 0, {}},
                      {"leaf2", SwitchKind::kSwitch, 0, 0, {}}};
  network.nvlink_domains = {{"rack&1", {900'000, 0}}};
  network.blocks = {{"b1", {}}};
  for (std::uint32_t i = 0; i < 20; ++i) {
    network.nodes.push_back({absl::StrCat("n", i), i == 19 ? kNowhere : 1 + i % 2,
                             i % 3 == 0 ? 0 : kNowhere, i % 2 == 0 ? 0 : kNowhere});
  }
  Svg svg;
  DrawNetwork(network, {{"n3", "ranks 0-7"}}, 0, svg);
  const Parsed parsed = Parse(svg.Document("net"));
  ASSERT_TRUE(parsed.well_formed);
  EXPECT_EQ(Beginning(parsed, "switch "), 3);
  EXPECT_EQ(Beginning(parsed, "switch a<b, level 0"), 1);
  for (const NetworkNode& node : network.nodes) {
    EXPECT_EQ(Beginning(parsed, absl::StrCat("node ", node.name, ",")), 1);
  }
  EXPECT_EQ(parsed.titles.count("node n3, block b1, ranks 0-7"), 1U);
}

}  // namespace
}  // namespace muster::cli
