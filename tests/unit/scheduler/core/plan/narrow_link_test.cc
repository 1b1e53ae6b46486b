// Links between switches that no job may lie across.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/verify.h"
#include "scheduler/core/place/nodes/narrow_choice.h"
#include "tests/unit/scheduler/core/playing.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using testing::After;
using ::testing::HasSubstr;
using testing::MakeNetwork;
using testing::Playing;
using testing::PolicyWorld;
using testing::Tasks;

ResourceRequest On(std::uint32_t nodes) {
  ResourceRequest request = Tasks(nodes, 4);
  request.min_nodes = request.max_nodes = nodes;
  return request;
}

// n1 to n4 below leaf1 and leaf2, two each, of four cores.
class NarrowLinkTest : public ::testing::Test {
 protected:
  NarrowLinkTest() {
    world_.config.network = MakeNetwork(4, 2);
    for (const char* name : {"n1", "n2", "n3", "n4"}) {
      world_.AddNode(name);
    }
  }
  Transition Narrow(bool narrow = true) {
    DrainNode command{"leaf1", narrow, "one of two cables"};
    command.link_to = "leaf2";
    return world_.Take(command);
  }
  bool Runs(JobId job) { return world_.state.FindJob(job)->attempt.has_value(); }
  std::set<std::string> NodesOf(JobId job) {
    std::set<std::string> nodes;
    for (const NodeAllocation& part : world_.state.FindJob(job)->attempt->allocation.nodes) {
      nodes.insert(part.name);
    }
    return nodes;
  }

  PolicyWorld world_;
};

TEST_F(NarrowLinkTest, JobsLieOnOneSideOfIt) {
  Narrow();
  const JobId one = world_.Submit(On(1));
  const JobId two = world_.Submit(On(2));
  world_.Schedule();
  ASSERT_TRUE(Runs(one));
  ASSERT_TRUE(Runs(two));
  EXPECT_EQ(NodesOf(one), (std::set<std::string>{"n1"}));
  EXPECT_EQ(NodesOf(two), (std::set<std::string>{"n3", "n4"}));
}

TEST_F(NarrowLinkTest, AJobInSegmentsHasATaskOnEachNodeOfItsPartitionsLeast) {
  world_.Add(PolicyKind::kPartition, "wide", {{"Nodes", "n[1-4]"}, {"MinNodes", "3"}});
  ResourceRequest request;
  request.tasks = 0;
  request.min_nodes = 2;
  request.max_nodes = 4;
  request.segment = 2;
  const JobId job = world_.Run(request, "", "", "wide");
  ASSERT_TRUE(Runs(job));
  for (const NodeAllocation& part : world_.state.FindJob(job)->attempt->allocation.nodes) {
    EXPECT_EQ(part.ranks.size(), 1U) << part.name;
  }
  EXPECT_EQ(NodesOf(job).size(), 4U);
}

TEST_F(NarrowLinkTest, AJobAsWideAsFitsTakesAllNodesOfOneSide) {
  ResourceRequest far = On(1);
  far.nodelist = {"n1"};
  world_.Submit(far);
  world_.Schedule();
  Narrow();
  ResourceRequest request = On(1);
  request.tasks = 0;
  request.max_nodes = 4;
  const JobId job = world_.Submit(request);
  world_.Schedule();
  ASSERT_TRUE(Runs(job));
  EXPECT_EQ(NodesOf(job), (std::set<std::string>{"n3", "n4"}));
}

TEST_F(NarrowLinkTest, AJobThatFitsOnlyAcrossItWaitsAndIsToldWhy) {
  Narrow();
  const JobId job = world_.Submit(On(3));
  world_.Schedule();
  ASSERT_FALSE(Runs(job));
  EXPECT_EQ(world_.ReasonFor(job).kind, ReasonKind::kReqNodeNotAvail);
  EXPECT_THAT(ToSentence(world_.ReasonFor(job)),
              HasSubstr("switches leaf1 and leaf2 are joined by a narrow link"));
  Narrow(false);
  world_.Schedule();
  EXPECT_TRUE(Runs(job));
}

TEST_F(NarrowLinkTest, AJobThatWaitsForRoomOnOneSideIsToldOfTheLinkToo) {
  Narrow();
  world_.Submit(On(1));
  ResourceRequest far = On(1);
  far.nodelist = {"n3"};
  world_.Submit(far);
  const JobId job = world_.Submit(On(2));
  world_.Schedule();
  ASSERT_FALSE(Runs(job));
  EXPECT_EQ(world_.ReasonFor(job).kind, ReasonKind::kResources);
  EXPECT_THAT(ToSentence(world_.ReasonFor(job)),
              HasSubstr("switches leaf1 and leaf2 are joined by a narrow link"));
}

TEST_F(NarrowLinkTest, APlanFromBeforeStartsNothingAcrossIt) {
  world_.Submit(On(3));
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 1U);
  Narrow();
  const Network* network = world_.config.network.get();
  EXPECT_FALSE(Verifier(world_.state, world_.now, network).Accept(plan.starts[0]));
  EXPECT_TRUE(Verifier(world_.state, world_.now).Accept(plan.starts[0])) << "no switch is known";
}

TEST_F(NarrowLinkTest, WhatRunsAcrossItGoesOn) {
  const JobId job = world_.Submit(On(3));
  world_.Schedule();
  ASSERT_TRUE(Runs(job));
  Narrow();
  world_.Schedule();
  EXPECT_TRUE(Runs(job));
}

TEST_F(NarrowLinkTest, APreemptorTakesNodesOfOneSide) {
  world_.Add(PolicyKind::kQos, "low", {{"PreemptMode", "CANCEL"}});
  world_.Add(PolicyKind::kQos, "high", {{"Preempt", "low"}, {"Priority", "100"}});
  Narrow();
  // The cheapest victims are the youngest: one on each side.
  for (const char* node : {"n1", "n3", "n2", "n4"}) {
    ResourceRequest request = On(1);
    request.nodelist = {node};
    JobSpec spec = world_.Spec(request);
    spec.qos = "low";
    world_.Submit(spec);
    world_.Schedule();
    world_.now += std::chrono::minutes(10);
  }
  JobSpec spec = world_.Spec(On(2));
  spec.qos = "high";
  world_.Submit(spec);
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.preemptions.size(), 1U);
  std::set<std::string> nodes;
  for (const NodeAllocation& part : plan.preemptions[0].allocation.nodes) {
    nodes.insert(part.name);
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"n3", "n4"}));
}

// A random cluster below some leaf switches, of which some are joined by narrow links; with jobs as
// wide as fits, or without.
Playing RandomRun(bool wide) {
  const auto width = *rc::gen::inRange(1U, 4U);
  const auto nodes = *rc::gen::inRange(2U, 9U);
  std::vector<testing::Shape> shapes;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    shapes.push_back({.cores = *rc::gen::inRange(1U, 4U)});
  }
  Playing run(shapes);
  const std::uint32_t leaves = (nodes + width - 1) / width;
  std::vector<NarrowLink> links;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    const auto a = absl::StrCat("leaf", *rc::gen::inRange(1U, leaves + 1));
    const auto b = absl::StrCat("leaf", *rc::gen::inRange(1U, leaves + 1));
    links.push_back({std::min(a, b), std::max(a, b), "cable", "ada", After(0)});
  }
  run.Join(MakeNetwork(nodes, width), links);
  const auto jobs = *rc::gen::inRange(1, 14);
  for (int i = 0; i < jobs; ++i) {
    ResourceRequest request = Tasks(*rc::gen::inRange(1U, 9U), *rc::gen::inRange(1U, 3U));
    switch (*rc::gen::inRange(0, wide ? 4 : 3)) {
      case 0:
      case 1:
        request.min_nodes = request.tasks;
        break;
      case 2:
        break;
      default:  // as wide as fits
        request.min_nodes = 1;
        request.max_nodes = std::max(request.tasks, 2U);
        request.tasks = 0;
    }
    run.Submit(request, *rc::gen::inRange(1, 30));
  }
  return run;
}

bool Spans(const Snapshot& snapshot, const Allocation& allocation) {
  const NodeTree tree(*snapshot.network, snapshot.nodes, snapshot.narrow_links);
  std::vector<NodeShare> shares;
  for (const NodeAllocation& part : allocation.nodes) {
    shares.push_back({static_cast<std::uint32_t>(part.node.value()) - 1, 1});
  }
  return SpannedLink(shares, tree).has_value();
}

RC_GTEST_PROP(NarrowLinkProperty, NoJobStartsAcrossOneAndEveryOtherStartsInTheEnd, ()) {
  Playing run = RandomRun(true);
  run.config.backfill = *rc::gen::element(Backfill::kNone, Backfill::kEasy, Backfill::kConservative,
                                          Backfill::kHybrid);
  run.config.priority.order = *rc::gen::element(QueueRule::kPriority, QueueRule::kPrompt);
  bool more = true;
  for (int cycles = 0; more && cycles < 1000; ++cycles) {
    run.RunCycle();
    for (const PlannedStart& start : run.plan().starts) {
      RC_ASSERT(!Spans(run.snapshot(), start.allocation));
    }
    more = run.Advance();
  }
  RC_ASSERT(!more);
  // What still waits finds no room in the whole cluster on one side of each link.
  for (const LeftWaiting& left : run.plan().waiting) {
    RC_ASSERT(left.reason.kind == ReasonKind::kBadConstraints ||
              (left.reason.kind == ReasonKind::kReqNodeNotAvail &&
               left.reason.shortages.front().kind == ShortageKind::kNarrowLink));
  }
}

RC_GTEST_PROP(NarrowLinkProperty, ConservativeKeepsEveryPromiseBesideThem, ()) {
  Playing run = RandomRun(false);  // what starts wider than was planned delays those behind it
  run.config.backfill = Backfill::kConservative;
  run.RunDry();
  for (const auto& [job, record] : run.records()) {
    if (record.promised != kNoTime) {
      RC_ASSERT(record.started != kNoTime);
      RC_ASSERT(record.started <= record.promised);
    }
  }
}

}  // namespace
}  // namespace muster::core
