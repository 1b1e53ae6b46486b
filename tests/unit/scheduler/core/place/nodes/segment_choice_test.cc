// Jobs in segments: which nodes, in which order the ranks, and why one waits.
#include "scheduler/core/place/nodes/segment_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "scheduler/core/explain/counterfactual.h"
#include "scheduler/core/explain/watchdog.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::MakeNetwork;
using testing::World;

// Nodes of four cores, three below each leaf switch.
class SegmentTest : public ::testing::Test {
 protected:
  void Begin(std::uint32_t nodes) {
    world_.config.network = MakeNetwork(nodes, 3);
    for (std::uint32_t i = 1; i <= nodes; ++i) {
      world_.AddNode(absl::StrCat("n", i));
    }
  }

  // A job on all of that node until 4600.
  void Fill(const std::string& node) {
    ResourceRequest request = testing::Tasks(4);
    request.nodelist = {node};
    JobSpec filler = world_.Spec(request);
    filler.time_limit = std::chrono::hours(1);
    fillers_[node] = world_.Submit(filler);
    world_.Schedule();
  }

  // A task a node.
  [[nodiscard]] JobSpec Asks(std::uint32_t nodes, std::uint32_t segment) const {
    ResourceRequest request = testing::Tasks(nodes);
    request.min_nodes = request.max_nodes = nodes;
    request.segment = segment;
    JobSpec spec = world_.Spec(request);
    spec.time_limit = std::chrono::minutes(10);
    return spec;
  }

  // "n1:0 n2:1": where the ranks are.
  [[nodiscard]] std::string RanksOf(JobId id) const {
    std::string text;
    const Job& job = *world_.state.FindJob(id);
    if (job.attempt.has_value()) {
      for (const NodeAllocation& part : job.attempt->allocation.nodes) {
        absl::StrAppend(&text, text.empty() ? "" : " ", part.name);
        for (const RankPlacement& rank : part.ranks) {
          absl::StrAppend(&text, ":", rank.rank);
        }
      }
    }
    return text;
  }

  [[nodiscard]] std::string Started(const JobSpec& spec) {
    const JobId job = world_.Submit(spec);
    world_.Schedule();
    return RanksOf(job);
  }

  World world_;
  std::map<std::string, JobId> fillers_;
};

TEST_F(SegmentTest, EachSegmentIsBelowOneLeafSwitch) {
  Begin(6);
  // Without segments it would be two of each leaf, or three and one.
  EXPECT_EQ(Started(Asks(4, 2)), "n1:0 n2:1 n4:2 n5:3");
}

TEST_F(SegmentTest, OneLeafThatHasAllOfThemIsTakenBeforeTwo) {
  Begin(6);
  Fill("n1");
  EXPECT_EQ(Started(Asks(3, 3)), "n4:0 n5:1 n6:2");
}

TEST_F(SegmentTest, AJobThatFindsNodesButNoSegmentsWaitsForThemAndSaysSo) {
  Begin(6);
  Fill("n1");
  Fill("n4");
  const JobId job = world_.Submit(Asks(3, 3));
  world_.Schedule();
  EXPECT_EQ(RanksOf(job), "");
  EXPECT_EQ(ToSentence(world_.ReasonFor(job)),
            "6 nodes: 2 short of 1 core (has 0), needs 1 segment of 3 nodes on one leaf switch "
            "each, none fits");
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].start, At(4600));
  EXPECT_EQ(plan.reservations[0].nodes.size(), 3U);
}

TEST_F(SegmentTest, ASegmentThatNoLeafCanHoldNeverStarts) {
  Begin(6);
  const JobId job = world_.Submit(Asks(4, 4));
  world_.Schedule();
  const Reason reason = world_.ReasonFor(job);
  EXPECT_EQ(reason.verdict, ReasonClass::kNever);
  EXPECT_EQ(ToSentence(reason),
            "never on this cluster: 6 nodes: needs 1 segment of 4 nodes on one leaf switch each, "
            "none fits");
}

TEST_F(SegmentTest, ItStartsAsSoonAsASegmentIsFree) {
  Begin(6);
  Fill("n1");
  Fill("n4");
  const JobId job = world_.Submit(Asks(3, 3));
  world_.Schedule();
  const NodeId node = world_.state.FindNode("n4")->id;
  world_.TellStarted(node, fillers_["n4"]);
  world_.TellEnded(node, fillers_["n4"], 2);
  world_.Schedule();
  EXPECT_EQ(RanksOf(job), "n4:0 n5:1 n6:2");
}

TEST_F(SegmentTest, RanksAreNumberedSegmentBySegment) {
  auto network = std::make_shared<Network>();
  network->blocks = {{"east", {}}, {"west", {}}};
  network->block_sizes = {2};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::string name = absl::StrCat("n", i + 1);
    world_.AddNode(name);
    network->nodes.push_back({name, kNowhere, i % 2, kNowhere});
  }
  world_.config.network = network;
  EXPECT_EQ(Started(Asks(4, 2)), "n1:0 n2:2 n3:1 n4:3");
}

TEST_F(SegmentTest, NodesThatAreNamedLieInSegmentsOrTheJobWaits) {
  Begin(6);
  JobSpec spec = Asks(4, 2);
  spec.request.nodelist = {"n1", "n3", "n4", "n6"};
  EXPECT_EQ(Started(spec), "n1:0 n3:1 n4:2 n6:3");
  spec.request.nodelist = {"n1", "n2", "n3", "n4"};
  EXPECT_EQ(Started(spec), "");
}

TEST_F(SegmentTest, AsManySegmentsAsTheTasksNeedWhereItDoesNotSayHowManyNodes) {
  Begin(6);
  ResourceRequest request = testing::Tasks(12);
  request.segment = 2;
  EXPECT_EQ(Started(world_.Spec(request)), "n1:0:1:2 n2:3:4:5 n4:6:7:8 n5:9:10:11");
}

TEST_F(SegmentTest, AWideJobTakesWholeSegmentsOnly) {
  Begin(6);
  Fill("n5");
  JobSpec spec = Asks(2, 2);
  spec.request.tasks = 0;
  spec.request.tasks_per_node = 1;
  spec.request.max_nodes = 6;
  EXPECT_EQ(Started(spec), "n1:0 n2:1 n4:2 n6:3");
}

TEST_F(SegmentTest, NoSegmentsAreSuggestedAndNobodyIsOverlooked) {
  Begin(6);
  Fill("n1");
  Fill("n4");
  const JobId job = world_.Submit(Asks(3, 3));
  const auto snapshot = BuildSnapshot(world_.state, world_.now, nullptr, world_.config.network);
  std::vector<std::string> changes;
  for (const Suggestion& suggestion : SuggestChanges(*snapshot, job, world_.config)) {
    changes.push_back(suggestion.change);
  }
  EXPECT_NE(std::find(changes.begin(), changes.end(), "no --segment"), changes.end());
  EXPECT_EQ(FindOverlooked(*snapshot, world_.MakePlanNow(), world_.config).size(), 0U);
}

TEST_F(SegmentTest, WithoutANetworkSegmentsMeanNothing) {
  Begin(6);
  world_.config.network = nullptr;
  EXPECT_EQ(Started(Asks(4, 4)), "n1:0 n2:1 n3:2 n4:3");
}

std::string Refusal(std::uint32_t nodes, std::uint32_t segment,
                    std::vector<std::string> nodelist = {}) {
  JobSpec spec;
  spec.user = User{1000, 1000, "ada"};
  spec.request = testing::Tasks(nodes);
  spec.request.min_nodes = nodes;
  spec.request.segment = segment;
  spec.request.nodelist = std::move(nodelist);
  return std::string(Normalise(spec, SchedulerConfig()).status().message());
}

TEST(Segments, ThatDoNotDivideTheJobAreRefused) {
  EXPECT_EQ(Refusal(6, 4), "--segment: 4 does not divide the 6 nodes of the job");
  EXPECT_EQ(Refusal(6, 3), "");
  EXPECT_EQ(Refusal(4, 2, {"n1"}),
            "--segment: with --nodelist or counts in --constraint, name all nodes or none");
}

// Against every number of whole segments of each leaf.
TEST(Segments, AreFoundWhereThereAreSomeAndNeverMoreNodesThanAreNeeded) {
  std::mt19937 random(7);
  const auto number = [&random](std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(random() % (most - least + 1));
  };
  int found = 0;
  for (int round = 0; round < 4000; ++round) {
    ResourceRequest request;
    request.segment = number(2, 3);
    request.min_nodes = request.segment * number(1, 2);
    request.max_nodes = request.min_nodes + request.segment * number(0, 2);
    request.tasks = request.min_nodes + number(0, 12);
    std::vector<std::vector<CandidateNode>> leaves(number(1, 3));
    std::uint32_t position = 0;
    for (auto& leaf : leaves) {
      leaf.resize(number(0, 5));
      for (CandidateNode& node : leaf) {
        node.position = position++;
        node.room = number(1, 4);
      }
    }
    // The fewest segments with room: the roomiest nodes of each leaf, that many of each.
    std::uint32_t fewest = 0;
    const auto best_of = [&](auto&& self, std::size_t leaf, std::uint64_t tasks,
                             std::uint32_t nodes) -> void {
      if (leaf == leaves.size()) {
        if (tasks >= request.tasks && nodes >= request.min_nodes && nodes <= request.max_nodes &&
            (fewest == 0 || nodes < fewest)) {
          fewest = nodes;
        }
        return;
      }
      std::vector<std::uint32_t> rooms;
      for (const CandidateNode& node : leaves[leaf]) {
        rooms.push_back(node.room);
      }
      std::sort(rooms.rbegin(), rooms.rend());
      std::uint64_t held = 0;
      for (std::uint32_t taken = 0;; ++taken) {
        if (taken % request.segment == 0) {
          self(self, leaf + 1, tasks + held, nodes + taken);
        }
        if (taken == rooms.size()) {
          return;
        }
        held += rooms[taken];
      }
    };
    best_of(best_of, 0, 0, 0);
    const std::vector<CandidateNode> chosen = ChooseSegments(leaves, request);
    ASSERT_EQ(chosen.size(), fewest) << "round " << round;
    std::uint64_t tasks = 0;
    std::map<std::uint32_t, std::uint32_t> nodes_of_leaf;
    for (const CandidateNode& node : chosen) {
      tasks += node.room;
      for (std::uint32_t leaf = 0; leaf < leaves.size(); ++leaf) {
        nodes_of_leaf[leaf] += std::any_of(
            leaves[leaf].begin(), leaves[leaf].end(),
            [&node](const CandidateNode& other) { return other.position == node.position; });
      }
    }
    if (fewest > 0) {
      ++found;
      EXPECT_GE(tasks, request.tasks);
      EXPECT_TRUE(AreSegments(nodes_of_leaf, request));
    }
  }
  EXPECT_GT(found, 1000);
}

}  // namespace
}  // namespace muster::core
