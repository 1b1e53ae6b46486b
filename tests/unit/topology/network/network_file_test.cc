#include "topology/network/network_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/network/network_toml.h"
#include "topology/network/slurm_topology.h"

namespace muster::topology {
namespace {

Network Read(const std::string& name) {
  absl::StatusOr<Network> network = ReadNetwork(absl::StrCat(MUSTER_FIXTURES, "/network/", name));
  EXPECT_TRUE(network.ok()) << network.status();
  return network.ok() ? *std::move(network) : Network();
}

std::uint32_t At(const Network& network, const std::string& node) {
  const auto found = std::find_if(network.nodes.begin(), network.nodes.end(),
                                  [&node](const NetworkNode& n) { return n.name == node; });
  EXPECT_NE(found, network.nodes.end()) << node;
  return static_cast<std::uint32_t>(found - network.nodes.begin());
}

// The switch at which the ways of two nodes meet.
std::string Meet(const Network& network, const std::string& a, const std::string& b) {
  const std::uint32_t at = SwitchAbove(network, At(network, a), At(network, b));
  return at == kNowhere ? "" : network.switches[at].name;
}

// The invariants of scheduler/model/machine/network.h.
void ExpectSound(const Network& network) {
  for (std::uint32_t i = 0; i < network.switches.size(); ++i) {
    const NetworkSwitch& own = network.switches[i];
    EXPECT_TRUE(own.parent == kNowhere || own.parent < i) << own.name;
    if (own.parent != kNowhere) {
      EXPECT_GT(network.switches[own.parent].level, own.level) << own.name;
    }
  }
  for (const NetworkNode& node : network.nodes) {
    EXPECT_TRUE(node.leaf == kNowhere || network.switches.at(node.leaf).level == 0) << node.name;
    EXPECT_TRUE(node.block == kNowhere || node.block < network.blocks.size());
    EXPECT_TRUE(node.domain == kNowhere || node.domain < network.nvlink_domains.size());
  }
}

TEST(NetworkFile, ASlurmTreeHasItsLevels) {
  const Network network = Read("tree.topology.conf");
  ExpectSound(network);
  EXPECT_EQ(network.nodes.size(), 16U);
  EXPECT_EQ(network.switches.size(), 7U);
  EXPECT_EQ(network.switches[0].name, "root");
  EXPECT_EQ(network.switches[0].level, 2U);
  EXPECT_EQ(Meet(network, "n01", "n04"), "leaf0");
  EXPECT_EQ(Meet(network, "n04", "n05"), "mid0");
  EXPECT_EQ(Meet(network, "n08", "n16"), "root");
  EXPECT_EQ(Meet(network, "n15", "n15"), "leaf3");
  EXPECT_TRUE(network.remarks.empty());
}

TEST(NetworkFile, SlurmsBlocksComeInTheOrderOfTheFile) {
  const Network network = Read("block.topology.conf");
  ExpectSound(network);
  EXPECT_EQ(network.block_sizes, (std::vector<std::uint32_t>{4, 8, 16}));
  ASSERT_EQ(network.blocks.size(), 4U);
  EXPECT_EQ(network.blocks[network.nodes[At(network, "n10")].block].name, "b3");
  EXPECT_TRUE(network.switches.empty());
}

TEST(NetworkFile, TheDefaultOfAYamlFileIsReadAndTheRestTold) {
  const Network network = Read("topology.yaml");
  ExpectSound(network);
  EXPECT_EQ(network.switches.size(), 3U);
  EXPECT_TRUE(network.blocks.empty());
  EXPECT_EQ(Meet(network, "n01", "n09"), "root");
  ASSERT_EQ(network.remarks.size(), 1U);
  EXPECT_TRUE(absl::StrContains(network.remarks[0], "of its 2 topologies, tree is used"));
}

TEST(NetworkFile, OurFatTreeHasSpeedsAndNvLinkDomains) {
  const Network network = Read("fat_tree.toml");
  ExpectSound(network);
  ASSERT_EQ(network.switches.size(), 3U);
  EXPECT_EQ(network.switches[0].down, (LinkSpeed{100'000, 1200}));
  EXPECT_EQ(network.switches[1].down, (LinkSpeed{50'000, 600}));
  ASSERT_EQ(network.nvlink_domains.size(), 2U);
  EXPECT_EQ(network.nvlink_domains[0].speed.bandwidth, 900'000U);
  EXPECT_EQ(network.nodes[At(network, "node7")].domain, 1U);
  EXPECT_EQ(Meet(network, "node4", "node5"), "spine");
}

TEST(NetworkFile, ADragonflysGroupsMeetInOneGlobalHop) {
  const Network network = Read("dragonfly.toml");
  ExpectSound(network);
  EXPECT_EQ(network.switches[0].kind, SwitchKind::kRoot);
  EXPECT_EQ(network.switches[0].down, (LinkSpeed{25'000, 1500}));
  EXPECT_EQ(Meet(network, "n1", "n2"), "r1");
  EXPECT_EQ(Meet(network, "n1", "n4"), "g1");
  EXPECT_EQ(Meet(network, "n1", "n16"), "dragonfly");
  EXPECT_EQ(Meet(network, "n13", "n16"), "g4");
}

TEST(NetworkFile, RootsWithoutAParentAreToldAndTheirNodesDoNotMeet) {
  const absl::StatusOr<Network> network =
      ParseSlurmTopology("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n", "t.conf");
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ(Meet(*network, "n1", "n3"), "");
  ASSERT_EQ(network->remarks.size(), 1U);
  EXPECT_TRUE(absl::StrContains(network->remarks[0], "2 switches have none above them"));
}

std::string ConfError(const std::string& text) {
  const absl::StatusOr<Network> network = ParseSlurmTopology(text, "t.conf");
  EXPECT_FALSE(network.ok()) << text;
  return std::string(network.status().message());
}

TEST(NetworkFile, EveryBadTopologyConfIsOneLineWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
       "t.conf:1: switch a is below itself: a below b below a"},
      {"SwitchName=r Nodes=n1\nSwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c "
       "Switches=b\n",
       "switch b is already below switch a, at line 2"},
      {"SwitchName=a Switches=a\n", "t.conf:1: switch a is below itself"},
      {"SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[4-8]\n",
       "t.conf:2: node n4 is already below switch a, at line 1: name it once"},
      {"SwitchName=a Nodes=n1,n1\n", "t.conf:1: node n1 is already below switch a, at line 1"},
      {"SwitchName=a Nodes=n1\n\nSwitchName=a Nodes=n2\n",
       "t.conf:3: switch a is there already, at line 1"},
      {"SwitchName=a Switches=x\n", "t.conf:1: switch a has x below it, which no line describes"},
      {"SwitchName=a\n", "t.conf:1: switch a has nothing below it"},
      {"SwitchName=a Nodes=n1 Switches=b\n", "t.conf:1: switch a has both nodes and switches"},
      {"SwitchName=a Nodes=n[2-1]\n", "t.conf:1: \"n[2-1]\" is no list of names"},
      {"SwitchName=a Nodes=n[1-99999]\n", "names more than 65536"},
      {"SwitchName=a[1-2] Nodes=n1\n", "t.conf:1: one line describes one switch"},
      {"SwitchName=a Nodes=n1 Nodes=n2\n", "t.conf:1: Nodes is there twice"},
      {"SwitchName=a Color=red\n", "t.conf:1: key \"color\" is not known here"},
      {"# nothing\nInclude other.conf\n", "t.conf:2: \"Include\" is not KEY=VALUE"},
      {"SwitchName=\n", "t.conf:1: \"SwitchName=\" is not KEY=VALUE"},
      {"BlockName=a Nodes=n1\nBlockName=b Nodes=n1\n",
       "t.conf:2: node n1 is already in block a, at line 1"},
      {"BlockName=a\n", "t.conf:1: a block without Nodes"},
      {"BlockName=a Nodes=n1\nBlockSizes=4,6\n", "t.conf:2: block size 6 does not follow"},
      {"BlockName=a Nodes=n1\nBlockSizes=0\n", "t.conf:2: block size 0 does not follow"},
      {"BlockName=a Nodes=n1\nBlockSizes=four\n", "t.conf:2: BlockSizes: \"four\" is no number"},
      {"BlockName=a Nodes=n1\nBlockSizes=1\nBlockSizes=2\n", "t.conf:3: the block sizes are there"},
      {"", "t.conf:1: names no nodes"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = ConfError(text);
    EXPECT_TRUE(absl::StrContains(error, expected)) << error << "\n  wanted: " << expected;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST(NetworkFile, EveryBadYamlIsOneLineWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"- topology: t\n  tree: [\n", "t.yaml:3: malformed YAML"},
      {"topology: t\n", "t.yaml:1: a list of topologies should be here"},
      {"", "t.yaml:1: a list of topologies should be here"},
      {"[]\n", "t.yaml:1: an empty list"},
      {"- topology: t\n  flat: true\n", "t.yaml:2: a flat topology says nothing"},
      {"- topology: t\n  ring: {}\n", "t.yaml:2: key \"ring\" is not known here"},
      {"- tree:\n    switches:\n      - nodes: n1\n", "t.yaml:3: a switch without a name"},
      {"- tree:\n    switches: 5\n", "t.yaml:2: a list (- …) should be here"},
      {"- tree:\n    switches:\n      - switch: a\n        children: b\n      - switch: b\n"
       "        children: a\n",
       "t.yaml:3: switch a is below itself"},
      {"- tree:\n    switches:\n      - switch: a\n        nodes: n[1-2]\n      - switch: b\n"
       "        nodes: n2\n",
       "t.yaml:5: node n2 is already below switch a, at line 3"},
      {"- block:\n    block_sizes: [4, x]\n", "t.yaml:2: \"x\" is no number of nodes"},
      {"- block:\n    blocks:\n      - block: b\n", "t.yaml:3: a block needs a name and nodes"},
      {"- tree:\n    switches:\n      - switch: a\n        switch: b\n",
       "t.yaml:4: key switch is there twice"},
  };
  for (const auto& [text, expected] : cases) {
    const absl::StatusOr<Network> network = ParseSlurmTopologyYaml(text, "t.yaml");
    ASSERT_FALSE(network.ok()) << text;
    EXPECT_TRUE(absl::StrContains(network.status().message(), expected)) << network.status();
  }
}

TEST(NetworkFile, EveryBadTomlIsOneLineWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[switch.a]\nnodes = \"n1\"\n[switch.a]\nnodes = \"n2\"\n", "t.toml:3: "},
      {"[switch.a]\nnodes = \"n1\"\nbandwidth = \"fast\"\n",
       "t.toml:3: switch.a.bandwidth: expected a bandwidth"},
      {"[switch.a]\nnodes = \"n1\"\nlatency = \"1 hour\"\n",
       "t.toml:3: switch.a.latency: expected"},
      {"[switch.a]\nnodes = \"n[\"\n", "t.toml:2: \"n[\" is no list of names"},
      {"[switch.a]\nnodes = 5\n", "t.toml:2: switch.a.nodes: expected a string"},
      {"[switch.a]\nnodes = \"n1\"\ncolour = \"red\"\n", "t.toml:3: switch.a.colour: unknown key"},
      {"[switch.a]\nswitches = \"b\"\n[switch.b]\nswitches = \"a\"\n",
       "t.toml:1: switch a is below itself"},
      {"[switch.a]\nnodes = \"n[1-3]\"\n[switch.b]\nnodes = \"n3\"\n",
       "t.toml:3: node n3 is already below switch a, at line 1"},
      {"[switch]\na = 5\n", "t.toml:2: switch.a: a table should be here"},
      {"[switch.\"a.b\"]\nnodes = \"n1\"\n", "is no name: use letters"},
      {"[dragonfly]\nbandwidth = \"1GB/s\"\n", "t.toml:1: dragonfly: no [group.NAME] is here"},
      {"[nvlink.r]\nbandwidth = \"1GB/s\"\n", "t.toml:1: nvlink.r: has no nodes"},
      {"[nvlink.r]\nnodes = \"n1\"\n[nvlink.s]\nnodes = \"n1\"\n",
       "t.toml:3: node n1 is already in NVLink domain r, at line 1"},
      {"[block]\nsizes = \"4,x\"\n", "t.toml:2: block.sizes: expected numbers"},
      {"colour = \"red\"\n", "t.toml:1: colour: unknown key"},
      {"", "t.toml:1: names no nodes"},
  };
  for (const auto& [text, expected] : cases) {
    const absl::StatusOr<Network> network = ParseNetworkToml(text, "t.toml");
    ASSERT_FALSE(network.ok()) << text;
    EXPECT_TRUE(absl::StrContains(network.status().message(), expected)) << network.status();
  }
}

TEST(NetworkFile, AmountsHaveUnits) {
  EXPECT_EQ(ParseBandwidth("400Gb/s"), 50'000U);
  EXPECT_EQ(ParseBandwidth("12.5 GB/s"), 12'500U);
  EXPECT_EQ(ParseBandwidth("900MB/s"), 900U);
  EXPECT_EQ(ParseLatency("1.5us"), 1'500U);
  EXPECT_EQ(ParseLatency("600ns"), 600U);
  for (const char* bad : {"", "400", "-1GB/s", "GB/s", "1e3GB/s", "nanGB/s", "infGB/s",
                          "99999999999999999GB/s", "0GB/s", "1GB/s "}) {
    EXPECT_FALSE(ParseBandwidth(bad).has_value()) << bad;
  }
}

TEST(NetworkFile, TheNameSaysTheFormat) {
  const TempDirectory directory;
  std::ofstream(directory / "net.TOML") << "[switch.a]\nnodes = \"n1\"\n";
  EXPECT_TRUE(ReadNetwork(directory / "net.TOML").ok());
  EXPECT_TRUE(
      absl::StrContains(ReadNetwork(directory / "absent.conf").status().message(), "No such file"));
}

TEST(NetworkFile, ACutFileIsNeverMoreThanWhatItSays) {
  for (const char* name : {"topology.yaml", "fat_tree.toml", "dragonfly.toml"}) {
    const absl::StatusOr<std::string> whole =
        ReadFile(absl::StrCat(MUSTER_FIXTURES, "/network/", name));
    ASSERT_TRUE(whole.ok());
    const TempDirectory directory;
    const std::string path = directory / name;
    for (std::size_t size = 0; size < whole->size(); size += 7) {
      std::ofstream(path) << whole->substr(0, size);
      const absl::StatusOr<Network> network = ReadNetwork(path);
      if (network.ok()) {
        ExpectSound(*network);
      } else {
        EXPECT_TRUE(absl::StartsWith(network.status().message(), path)) << network.status();
      }
    }
  }
}

}  // namespace
}  // namespace muster::topology
