// Countable things of nodes: what a job holds of them no other has.

#include <gtest/gtest.h>

#include "scheduler/core/handle/submit/validate.h"
#include "scheduler/core/policy/limits.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::Tasks;
using testing::World;

class GresTest : public ::testing::Test {
 protected:
  NodeId AddNode(const std::string& name, const GresList& gres) {
    Registration registration = World::RegistrationOf(name, testing::Shape());
    registration.machine.gres = gres;
    return world.Take(RegisterAgent{registration}).node;
  }
  ResourceRequest Asks(const std::string& gres, std::uint32_t tasks = 1) {
    ResourceRequest request = Tasks(tasks);
    request.gres = *ParseGresList(gres);
    return request;
  }
  bool Runs(JobId job) { return world.state.FindJob(job)->attempt.has_value(); }

  World world;
};

TEST_F(GresTest, AListIsReadSortedAndWrittenBack) {
  EXPECT_EQ(ToText(*ParseGresList("scratch:4,fpga,bw:2K")), "bw:2048,fpga:1,scratch:4");
  for (const char* wrong :
       {"a:0", "a:x", "a:", ":3", "gpu:1", "a,a", "a:-1", "a b:1", "a:99999G"}) {
    EXPECT_FALSE(ParseGresList(wrong).ok()) << wrong;
  }
}

TEST_F(GresTest, JobsShareWhatANodeHasUntilItIsAllTaken) {
  AddNode("n1", {{"scratch", 3}});
  const JobId first = world.Submit(Asks("scratch:2"));
  const JobId second = world.Submit(Asks("scratch:1"));
  const JobId third = world.Submit(Asks("scratch:2"));
  world.Schedule();
  EXPECT_TRUE(Runs(first));
  EXPECT_TRUE(Runs(second)) << "one is left for whoever asks for no more";
  EXPECT_FALSE(Runs(third));
  const NodeAllocation& part = world.state.FindJob(first)->attempt->allocation.nodes.front();
  EXPECT_EQ(part.gres, (GresList{{"scratch", 2}}));
  const Reason reason = world.ReasonFor(third);
  EXPECT_EQ(reason.kind, ReasonKind::kResources);
  EXPECT_EQ(ToSentence(reason), "1 node: 1 short of 2 scratch (has 0)");
}

TEST_F(GresTest, WhatAJobHeldIsFreeWhenItEnds) {
  const NodeId node = AddNode("n1", {{"scratch", 2}});
  const JobId first = world.Submit(Asks("scratch:2"));
  world.Schedule();
  world.TellStarted(node, first);
  const JobId second = world.Submit(Asks("scratch:1"));
  world.Schedule();
  EXPECT_FALSE(Runs(second));
  world.TellEnded(node, first, 2);
  EXPECT_EQ(world.state.FindNode(node)->taken.gres, GresList());
  world.Schedule();
  EXPECT_TRUE(Runs(second));
}

TEST_F(GresTest, AJobGoesToTheNodeThatHasTheThing) {
  AddNode("n1", {});
  const NodeId rich = AddNode("n2", {{"fpga", 1}, {"scratch", 4}});
  const JobId job = world.Submit(Asks("fpga"));
  world.Schedule();
  ASSERT_TRUE(Runs(job));
  EXPECT_EQ(world.state.FindJob(job)->attempt->allocation.nodes.front().node, rich);
}

TEST_F(GresTest, OfSeveralNodesEachHasToHaveIt) {
  AddNode("n1", {{"scratch", 1}});
  AddNode("n2", {{"scratch", 1}});
  ResourceRequest both = Asks("scratch:1", 2);
  both.min_nodes = both.max_nodes = 2;
  const JobId job = world.Submit(both);
  world.Schedule();
  ASSERT_TRUE(Runs(job));
  for (const NodeAllocation& part : world.state.FindJob(job)->attempt->allocation.nodes) {
    EXPECT_EQ(part.gres, (GresList{{"scratch", 1}}));
  }
}

TEST_F(GresTest, WhatNoNodeDeclaresIsNeverThere) {
  AddNode("n1", {{"scratch", 1}});
  const JobId job = world.Submit(Asks("quantum"));
  world.Schedule();
  EXPECT_EQ(world.ReasonFor(job).verdict, ReasonClass::kNever);
  EXPECT_NE(ToSentence(world.ReasonFor(job)).find("short of 1 quantum (has 0)"), std::string::npos);
}

TEST_F(GresTest, AWholeNodeHoldsAllOfIt) {
  AddNode("n1", {{"scratch", 4}});
  ResourceRequest whole = Tasks(1);
  whole.exclusive = true;
  const JobId job = world.Submit(whole);
  world.Schedule();
  ASSERT_TRUE(Runs(job));
  EXPECT_EQ(world.state.FindJob(job)->attempt->allocation.nodes.front().gres,
            (GresList{{"scratch", 4}}));
}

TEST_F(GresTest, ALimitCountsIt) {
  Qos qos;
  qos.name = "small";
  qos.limits.max_tres_per_job = {{TresKind::kGres, "scratch", 2}};
  SitePolicy site;
  Put(site, qos);
  JobSpec spec = Normalise(world.Spec(Asks("scratch:3")), SchedulerConfig()).value();
  spec.qos = "small";
  const std::vector<Reason> broken = CheckJobLimits(site, LeastAsk(spec, ""));
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_EQ(broken.front().kind, ReasonKind::kQOSMaxTRESPerJob);
  EXPECT_EQ(broken.front().needed, 3U);
  EXPECT_EQ(broken.front().capacity, 2U);
}

}  // namespace
}  // namespace muster::core
