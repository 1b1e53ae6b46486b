// sinfo's pages against those of Slurm itself, over the same nodes and partitions.

#include "cli/slurm/nodes/sinfo_page.h"

#include <gtest/gtest.h>

#include "cli/slurm/nodes/node_fields.h"
#include "cli/slurm/nodes/node_rows.h"
#include "cli/slurm/nodes/node_words.h"
#include "cli/slurm/nodes/sinfo_options.h"
#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

NodeView Node(const std::string& name, const std::string& state, unsigned cores, unsigned threads,
              unsigned mebibytes) {
  NodeView node;
  node.name = name;
  node.hostname = name;
  node.state = state;
  node.cores = cores;
  node.cpus = cores * threads;
  node.memory = kMebibyte * mebibytes;
  node.weight = 1;
  node.machine.packages.resize(1);
  return node;
}

PolicyView Partition(const std::string& name, const std::string& nodes, const std::string& time,
                     const std::string& state) {
  PolicyView partition;
  partition.kind = "partition";
  partition.name = name;
  partition.state = state;
  partition.properties = {{"Nodes", nodes}};
  if (!time.empty()) {
    partition.properties.push_back({"MaxTime", time});
  }
  return partition;
}

// The cluster of tests/fixtures/slurm/record.py while queries.txt was asked. Slurm calls n5
// unknown, because it never came; a node that Muster knows has been there: it is down.
ClusterAnswer Recorded() {
  ClusterAnswer cluster;
  cluster.nodes = {Node("n1", "MIXED", 4, 2, 4000), Node("n2", "MIXED", 4, 2, 4000),
                   Node("n3", "MIXED+DRAIN", 8, 1, 8000), Node("n4", "IDLE+DRAIN", 4, 1, 4000),
                   Node("n5", "DOWN", 4, 1, 4000)};
  cluster.nodes[0].cpus_taken = 2;
  cluster.nodes[1].cpus_taken = 6;
  cluster.nodes[2].cpus_taken = 2;
  cluster.nodes[0].memory_taken = kMebibyte * 1000;
  cluster.nodes[1].memory_taken = kMebibyte * 400;
  cluster.nodes[2].memory_taken = kMebibyte * 200;
  cluster.nodes[0].features = {"old", "ssd"};
  cluster.nodes[1].features = {"old", "ssd"};
  cluster.nodes[2].features = {"new"};
  cluster.nodes[2].machine.packages.resize(2);
  cluster.nodes[2].reason = "after this job";
  cluster.nodes[3].machine.packages.resize(4);
  cluster.nodes[3].reason = "bad | fan, \"loud";
  cluster.nodes[3].weight = 5;
  cluster.nodes[4].weight = 5;
  cluster.partitions = {
      Partition("debug", "n[1-4]", "1-00:00:00", "UP"), Partition("long", "n[1-5]", "", "UP"),
      Partition("gpu", "n3", "04:00:00", "UP"), Partition("closed", "n2", "", "DOWN")};
  cluster.partitions[0].properties.push_back({"Default", "YES"});
  return cluster;
}

std::string OursOf(const std::string& command) {
  const absl::StatusOr<Words> words =
      ReadWords(SinfoRows(), Operands::kAnywhere, recorded::WordsOf(command));
  if (!words.ok()) {
    return std::string(words.status().message());
  }
  const absl::StatusOr<SinfoRequest> request = ReadSinfo(*words, Environment());
  return request.ok() ? SinfoPage(*request, Recorded()) : std::string(request.status().message());
}

// Slurm's answer, in which n5 is what Muster calls it.
std::string TheirsOf(const std::string& command) {
  std::string page = recorded::Of("sinfo", command).out;
  for (const auto& [theirs, ours] :
       {std::pair{"  unk* n5", " down* n5"}, std::pair{"unknown*", "down*"},
        std::pair{"unk*  ", "down* "}}) {
    for (std::size_t at = page.find(theirs); at != std::string::npos; at = page.find(theirs)) {
      page.replace(at, std::string(theirs).size(), ours);
    }
  }
  return page;
}

class SinfoPages : public ::testing::TestWithParam<const char*> {};

TEST_P(SinfoPages, AreThoseOfSlurm) {
  EXPECT_EQ(OursOf(GetParam()), TheirsOf(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, SinfoPages,
    ::testing::Values("sinfo", "sinfo -h", "sinfo -N", "sinfo -e", "sinfo -r", "sinfo -d",
                      "sinfo -p gpu", "sinfo -p nosuch", "sinfo -n n1", "sinfo -n nosuch",
                      "sinfo -t idle", "sinfo -t mix -h -o '%n %t'", "sinfo -o '%P'",
                      "sinfo -h -o '%R'", "sinfo -h -o '%N'", "sinfo -h -o '%N' -p gpu",
                      "sinfo -h -o '%N' -t drain", "sinfo -h -N -o '%R' -n n3",
                      "sinfo -h -N -o '%T' -n n3", "sinfo -N -O NodeList:30",
                      "sinfo --format %P,%m --noconvert",
                      "sinfo -O Partition,Available,Time,Nodes,StateCompact,NodeList",
                      "sinfo -h -o '%%P'", "sinfo -h -o ' lead %P'", "sinfo -M gold -h"));

// Slurm leaves the order of such lines to chance: two recordings differ.
TEST(Sinfo, LinesOfOneNodeAreInTheOrderOfThePartitions) {
  EXPECT_EQ(OursOf("sinfo -h -n n1,n4 -N"),
            "n1             1    debug* mix   \nn1             1      long mix   \n"
            "n4             1    debug* drain \nn4             1      long drain \n");
  EXPECT_EQ(OursOf("sinfo -h -o '%D,%T'"), "1,draining\n1,drained\n2,mixed\n1,down*\n");
}

TEST(Sinfo, ANodeThatIsDownIsNeitherTakenNorFree) {
  EXPECT_EQ(OursOf("sinfo -h -s -p debug,long"),
            "debug*       up 1-00:00:00          3/0/1/4 n[1-4]\n"
            "long         up   infinite          3/0/2/5 n[1-5]\n");
}

TEST(Sinfo, CountsOfCpusCountWhatIsTaken) {
  EXPECT_EQ(OursOf("sinfo -h -o %C"), "10/8/14/32\n");
  EXPECT_EQ(OursOf("sinfo -h -p debug -o '%R,%C'"),
            recorded::Of("sinfo", "sinfo -h -o '%R,%C'").out.substr(0, 17));
}

TEST(Sinfo, AReasonStandsWithItsNodesAndBreaksNoColumn) {
  EXPECT_EQ(OursOf("sinfo -h -R"),
            "after this job       Unknown   Unknown             n3\n"
            "bad | fan, \"loud     Unknown   Unknown             n4\n");
  EXPECT_EQ(OursOf("sinfo -h -n n4 -o '%E|%t'"), "bad \\x7c fan, \"loud|drain\n");
}

TEST(Sinfo, ANodeThatDoesNotAnswerHasAStar) {
  EXPECT_EQ(LongState(Node("n", "DOWN", 1, 1, 1)), "down*");
  EXPECT_EQ(CompactState(Node("n", "DOWN+DRAIN", 1, 1, 1)), "drain*");
  EXPECT_EQ(UpperState(Node("n", "DOWN", 1, 1, 1)), "DOWN+NOT_RESPONDING");
  EXPECT_EQ(CompactState(Node("n", "ALLOCATED+DRAIN", 1, 1, 1)), "drng");
}

TEST(Sinfo, ADrainedNodeIsAlsoInTheStateThatItHasBesides) {
  const NodeView node = Node("n", "IDLE+DRAIN", 1, 1, 1);
  for (const char* state : {"idle", "drain", "drained", "all", "respond"}) {
    EXPECT_TRUE(IsInState(node, state)) << state;
  }
  for (const char* state : {"mix", "down", "draining", "no_respond"}) {
    EXPECT_FALSE(IsInState(node, state)) << state;
  }
}

TEST(Sinfo, AFieldIsFoundByLetterAndByNameInAnyCase) {
  EXPECT_EQ(FindNodeField('P'), FindNodeField("partition"));
  EXPECT_EQ(FindNodeField('~'), nullptr);
  EXPECT_EQ(FindNodeField("nosuch"), nullptr);
}

TEST(Sinfo, UnknownWordsAreOneLine) {
  EXPECT_EQ(OursOf("sinfo -t nosuch"), "error: Bad state string: \"nosuch\"");
  EXPECT_EQ(OursOf("sinfo -o %J"), "Invalid node format specification: J");
  EXPECT_EQ(OursOf("sinfo -O nosuch"), "error: Invalid job format specification: nosuch");
}

}  // namespace
}  // namespace muster::cli::slurm
