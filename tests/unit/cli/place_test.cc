// muster place, the program itself, on captured machines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/unit/cli/program.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

std::string Machine(const std::string& name) {
  return absl::StrCat(MUSTER_FIXTURES, "/topology/", name);
}

std::string Net(const std::string& name) {
  return absl::StrCat(MUSTER_FIXTURES, "/network/", name);
}

Json Place(std::vector<std::string> arguments, int code = 0) {
  arguments.insert(arguments.begin(), "place");
  arguments.emplace_back("--json");
  const ProgramEnd end = RunMuster(arguments);
  EXPECT_EQ(end.code, code) << end.err << end.out;
  EXPECT_EQ(end.err, "");
  return Json::parse(end.out, nullptr, false);
}

TEST(Place, EveryRankGetsAGpuOfItsOwnNumaNodeAndAPortOfItsSwitch) {
  const Json document =
      Place({"--topology", Machine("ndv4-topo.xml"), "-n", "8", "-c", "12", "--gpus-per-task=1"});
  EXPECT_EQ(document["locality"], 1.0);
  ASSERT_EQ(document["nodes"].size(), 1U);
  EXPECT_EQ(document["nodes"][0]["name"], "node1");
  const Json& ranks = document["nodes"][0]["ranks"];
  ASSERT_EQ(ranks.size(), 8U);
  std::set<std::string> gpus;
  std::set<std::string> nics;
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(ranks[i]["rank"], i);
    ASSERT_EQ(ranks[i]["gpus"].size(), 1U);
    gpus.insert(ranks[i]["gpus"][0].get<std::string>());
    nics.insert(ranks[i]["nic"].get<std::string>());
    EXPECT_FALSE(ranks[i]["mem_nodes"].get<std::string>().empty());
  }
  EXPECT_EQ(gpus.size(), 8U);
  EXPECT_EQ(nics.size(), 8U);
  EXPECT_EQ(document["span"]["nodes"], 1);
  EXPECT_EQ(document["predicted"]["gpu_link"]["kind"], "SYS");
}

TEST(Place, FourGpusOfAnH200MachineAreOneNvLinkSet) {
  const Json document =
      Place({"--topology", Machine("h200x4.xml") + "+" + Machine("h200x4.topo_m.txt"), "-n", "4",
             "--gpus-per-task=1"});
  EXPECT_EQ(document["locality"], 1.0);
  EXPECT_EQ(document["predicted"]["gpu_link"]["kind"], "NV18");
  EXPECT_EQ(document["predicted"]["gpu_link"]["bandwidth"], 450000);
}

TEST(Place, PartsOfGpusAreToldWithTheirSize) {
  const Json document = Place({"--topology", Machine("h200x4.xml"), "-n", "3", "--gpu-share=0.4"});
  const Json& ranks = document["nodes"][0]["ranks"];
  ASSERT_EQ(ranks.size(), 3U);
  EXPECT_EQ(ranks[0]["gpus"], ranks[1]["gpus"]);
  EXPECT_NE(ranks[0]["gpus"], ranks[2]["gpus"]);
  EXPECT_EQ(ranks[2]["gpu_share"], 0.4);
  const ProgramEnd end =
      RunMuster({"place", "--topology", Machine("h200x4.xml"), "-n", "1", "--gpu-share=40%"});
  EXPECT_THAT(end.out, HasSubstr("0.4 of GPU "));
}

TEST(Place, TheTreeSaysTheSame) {
  const ProgramEnd end = RunMuster(
      {"place", "--topology", Machine("power8gpudistances.xml"), "-n", "2", "--gpus-per-task=1"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("2 ranks on 1 node, locality 1.000\n"));
  EXPECT_THAT(end.out, HasSubstr("weakest GPU link NV"));
  EXPECT_THAT(end.out, HasSubstr("rank 0  cpus "));
}

TEST(Place, ANetworkNamesTheNodesAndTellsTheSpan) {
  const Json document = Place({"--topology", "numa:2(memory=8GB) core:4", "--network",
                               Net("fat_tree.toml"), "-N", "2", "-n", "16"});
  ASSERT_EQ(document["nodes"].size(), 2U);
  EXPECT_EQ(document["nodes"][0]["name"], "node1");
  EXPECT_EQ(document["span"]["switch"], "leaf1");
  EXPECT_EQ(document["span"]["level"], 0);
  EXPECT_EQ(document["span"]["nvlink_domains"], Json::array({"rack1"}));
  EXPECT_EQ(document["predicted"]["network_bandwidth"], 50000);
  const Json tree = Place({"--topology", "core:4", "--network", Net("tree.topology.conf"), "-w",
                           "n08,n16", "-N", "2", "-n", "2"});
  EXPECT_EQ(tree["span"]["switch"], "root");
  EXPECT_EQ(tree["span"]["leaves"], Json::array({"leaf1", "leaf3"}));
}

TEST(Place, PredictsTheTimesOfThisPlacementAndOfBlocks) {
  const Json four = Place({"--topology", Machine("h200x4.xml") + "+" + Machine("h200x4.topo_m.txt"),
                           "-n", "4", "--gpus-per-task=1", "--message", "512M"})["predicted"];
  EXPECT_EQ(four["bytes"], 512 << 20);
  EXPECT_EQ(four["chosen"]["links"][0]["name"], "NVLink");
  EXPECT_EQ(four["chosen"]["links"][0]["bandwidth"], 360000);
  EXPECT_EQ(four["chosen"]["links"][0]["assumed"], false);
  // 2 (N-1)/N M/B and six latencies.
  EXPECT_NEAR(four["chosen"]["allreduce"]["seconds"].get<double>(),
              1.5 * 536870912 / 360e9 + 3.6e-6, 1e-9);
  EXPECT_EQ(four["chosen"]["allreduce"]["algorithm"], "ring");
  EXPECT_NEAR(four["chosen"]["allgather"]["seconds"].get<double>() * 2,
              four["chosen"]["allreduce"]["seconds"].get<double>(), 1e-9);
  // Here the ranks' cores beside their GPUs come first; blocks stay on one NVLink and are told so.
  const Json apart = Place({"--topology", Machine("power8gpudistances.xml"), "-n", "2", "-c", "8",
                            "--gpus-per-task=1"})["predicted"];
  EXPECT_EQ(apart["chosen"]["locality"], 1.0);
  EXPECT_EQ(apart["default"]["locality"], 0.5);
  EXPECT_EQ(apart["chosen"]["links"][0]["name"], "processor interconnect");
  EXPECT_EQ(apart["default"]["links"][0]["name"], "NVLink");
  const Json two = Place({"--topology", "numa:2(memory=8GB) core:4", "--network",
                          Net("fat_tree.toml"), "-w", "node1,node5", "-N", "2", "-n", "16"});
  const Json& links = two["predicted"]["chosen"]["links"];
  EXPECT_EQ(links[0]["name"], "NUMA node");
  EXPECT_EQ(links.back()["name"], "spine");
  EXPECT_EQ(links.back()["bandwidth"], 50000);
  EXPECT_EQ(links.back()["shared_bandwidth"], 6250);
  const ProgramEnd text =
      RunMuster({"place", "--topology", Machine("ndv4-topo.xml"), "-n", "4", "--gpus-per-task=1"});
  EXPECT_THAT(text.out, HasSubstr("predicted all-reduce of 1 GiB:\n  placed so   "));
  EXPECT_THAT(text.out, HasSubstr("\n  in blocks   "));
}

TEST(Place, APictureShowsNetworkAndRanks) {
  const TempDirectory directory;
  const std::string file = directory / "job.svg";
  const ProgramEnd end = RunMuster({"place", "--topology", "numa:2(memory=8GB) core:4", "--network",
                                    Net("fat_tree.toml"), "-N", "2", "-n", "16", "--svg", file});
  EXPECT_EQ(end.code, 0) << end.err;
  std::ifstream read(file);
  const std::string picture{std::istreambuf_iterator<char>(read), {}};
  EXPECT_THAT(picture, HasSubstr("<title>node node1, NVLink domain rack1, ranks 0-7</title>"));
  EXPECT_THAT(picture, HasSubstr("<title>switch spine, level 1, links below 100 GB/s</title>"));
  EXPECT_THAT(picture, HasSubstr("<title>core 0, cpus 0, rank 0</title>"));
  const ProgramEnd bad =
      RunMuster({"place", "--topology", "core:2", "-n", "1", "--svg", directory / "absent/x.svg"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("x.svg"));
}

TEST(Place, OneRankHasNothingToSend) {
  const Json document = Place({"--topology", "core:4", "-n", "1"});
  EXPECT_EQ(document["predicted"]["chosen"]["allreduce"]["seconds"], 0.0);
  EXPECT_EQ(document["predicted"]["chosen"]["allreduce"]["algorithm"], "none");
  const ProgramEnd text = RunMuster({"place", "--topology", "core:4", "-n", "1"});
  EXPECT_EQ(text.out.find("predicted"), std::string::npos);
}

TEST(Place, MachinesAreListedRepeatedOrNamedBehind) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--topology", "core:2,core:4"},
        {"--topology", "core:2", "--topology", "core:4"},
        {"--topology", "core:2", "core:4"}}) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"-n", "4"});
    const Json document = Place(all);
    ASSERT_EQ(document["nodes"].size(), 1U);
    EXPECT_EQ(document["nodes"][0]["name"], "node2");
  }
}

TEST(Place, WhatCannotBePlacedSaysWhyInNumbers) {
  const Json document = Place({"--topology", Machine("ndv2-topo.xml"), "-G", "9"}, 1);
  EXPECT_EQ(document["reason"]["kind"], "BadConstraints");
  EXPECT_EQ(document["reason"]["never"], true);
  EXPECT_THAT(document["reason"]["text"].get<std::string>(), HasSubstr("short of 9 GPUs (has 8)"));
  EXPECT_EQ(document["reason"]["shortages"][0]["available"], 8);
  const ProgramEnd end = RunMuster({"place", "--topology", Machine("ndv2-topo.xml"), "-G", "9"});
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(end.out, "");
  EXPECT_THAT(end.err, HasSubstr("muster place: BadConstraints: never on this cluster: 1 node: 1 "
                                 "short of 9 GPUs (has 8)"));
}

TEST(Place, CountableThingsOfTheNodesSayWhereAJobGoes) {
  const Json tree = Place({"--topology", "core:2", "--cluster-nodes", "2", "--node-gres",
                           "scratch:1;scratch:4", "--gres", "scratch:2", "-n", "1"});
  EXPECT_EQ(tree["nodes"][0]["name"], "node2");
  const ProgramEnd short_of = RunMuster({"place", "--topology", "core:2", "--node-gres",
                                         "scratch:1", "--gres", "scratch:2", "-n", "1"});
  EXPECT_EQ(short_of.code, 1);
  EXPECT_THAT(short_of.err, HasSubstr("short of 2 scratch (has 1)"));
  const ProgramEnd wrong =
      RunMuster({"place", "--topology", "core:2", "--node-gres", "scratch:x", "-n", "1"});
  EXPECT_THAT(wrong.err, HasSubstr("--node-gres: "));
}

TEST(Place, WhatIsWrongIsOneLine) {
  const TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "net.conf",
                                  "SwitchName=a Switches=b\nSwitchName=b Switches=a\n")
                  .ok());
  ASSERT_TRUE(WriteFileAtomically(directory / "bad.xml", "<system>\n<cpu\n").ok());
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string says;
  };
  const std::vector<Case> cases = {
      {{}, 2, "missing --topology"},
      {{"--topology", "absent"}, 1, "\"absent\": no such file"},
      {{"--topology", directory / "bad.xml"}, 1, "bad.xml:2: malformed XML"},
      {{"--topology", "core:4", "--network", directory / "net.conf"},
       1,
       "net.conf:1: switch a is below itself"},
      {{"--topology", "core:4", "--cluster-nodes", "0"}, 2, "--cluster-nodes: "},
      {{"--topology", "core:4,core:2", "--cluster-nodes", "3"}, 1, "names 2 machines for 3 nodes"},
      {{"--topology", "core:4", "-n", "x"}, 2, "--ntasks: "},
      {{"--topology", "core:4", "--message", "much"}, 2, "--message: "},
      {{"--topology", "core:4", "--qos", "x"}, 2, "unknown option"},
      {{"--topology", "core:4", "-N", "3-2"}, 2, "--nodes: "},
  };
  for (const Case& bad : cases) {
    std::vector<std::string> arguments = {"place"};
    arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
    const ProgramEnd end = RunMuster(arguments);
    EXPECT_EQ(end.code, bad.code) << end.err;
    EXPECT_EQ(end.out, "");
    EXPECT_THAT(end.err, HasSubstr(bad.says));
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  }
}

}  // namespace
}  // namespace muster::cli
