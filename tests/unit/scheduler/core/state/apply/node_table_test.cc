#include "scheduler/core/state/apply/node_table.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::Cpus;
using testing::World;

// A node of four cores, and a job that may run on two of them.
class NodeTableTest : public ::testing::Test {
 protected:
  NodeTableTest() {
    Register("n1");
    job_.id = JobId(7);
    job_.spec = std::make_shared<const JobSpec>();
    NodeAllocation part;
    part.node = NodeId(1);
    part.cpus = Cpus("0-1");
    job_.attempt.emplace();
    job_.attempt->allocation.nodes.push_back(part);
    job_.attempt->runs.resize(1);
  }
  bool Register(const std::string& name, const testing::Shape& shape = {}, std::uint32_t id = 1) {
    NodeRegistered event;
    event.node = NodeId(id);
    event.registration = World::RegistrationOf(name, shape);
    event.time = At(5);
    bool is_new = false;
    nodes_.Register(event, jobs_, &is_new);
    return is_new;
  }
  void Quarantine(const std::string& cpus, bool over) {
    AttemptQuarantined event;
    event.node = NodeId(1);
    event.attempt.job = JobId(9);
    event.attempt.allocation.node = NodeId(1);
    event.attempt.allocation.cpus = Cpus(cpus);
    event.over = over;
    nodes_.Quarantine(event, jobs_);
  }
  [[nodiscard]] CpuSet Taken() const { return nodes_.Find(NodeId(1))->taken.cpus; }
  NodeTable nodes_;
  JobTable jobs_;
  Job job_;
};

TEST_F(NodeTableTest, OfTooManyThingsThatANodeKeepsTheOldestIsForgotten) {
  for (std::uint64_t mark = 1; mark <= kNodeKeptMax; ++mark) {
    nodes_.NoteKept(NodeId(1), mark);
  }
  nodes_.NoteKept(NodeId(1), 1);
  EXPECT_EQ(nodes_.Find(NodeId(1))->kept.front(), 1U);
  nodes_.NoteKept(NodeId(1), kNodeKeptMax + 1);
  EXPECT_EQ(nodes_.Find(NodeId(1))->kept.size(), kNodeKeptMax);
  EXPECT_EQ(nodes_.Find(NodeId(1))->kept.front(), 2U);
  EXPECT_EQ(nodes_.Find(NodeId(1))->kept.back(), kNodeKeptMax + 1);
  nodes_.ForgetKept(NodeId(1), 2);
  nodes_.ForgetKept(NodeId(1), 1);
  EXPECT_EQ(nodes_.Find(NodeId(1))->kept.front(), 3U);
}

TEST_F(NodeTableTest, ANodeKeepsItsIdWhenItComesAgain) {
  EXPECT_FALSE(Register("n1", {.cores = 8}));
  EXPECT_EQ(nodes_.Find("n1")->id, NodeId(1));
  EXPECT_EQ(nodes_.Find("n1")->machine->cores.size(), 8U);
  EXPECT_EQ(nodes_.next(), NodeId(2));
  EXPECT_EQ(nodes_.Find("n2"), nullptr);
  EXPECT_EQ(nodes_.Find(NodeId(2)), nullptr);
}

TEST_F(NodeTableTest, NodesInARowThatAreAlikeHaveOneMachine) {
  Register("n2", {}, 2);
  Register("n3", {.cores = 8}, 3);
  EXPECT_EQ(nodes_.Find(NodeId(2))->machine, nodes_.Find(NodeId(1))->machine);
  EXPECT_EQ(nodes_.Find(NodeId(3))->machine->cores.size(), 8U);
  Register("n2", {.cores = 2}, 2);
  EXPECT_EQ(nodes_.Find(NodeId(1))->machine->cores.size(), 4U);
  EXPECT_EQ(nodes_.Find(NodeId(2))->machine->cores.size(), 2U);
}

TEST_F(NodeTableTest, AJobsPartIsTakenUntilItIsFreed) {
  nodes_.Take(job_);
  EXPECT_EQ(Taken(), Cpus("0-1"));
  EXPECT_EQ(nodes_.JobsOn(NodeId(1)), (std::vector<JobId>{JobId(7)}));
  nodes_.Free(job_, jobs_);
  EXPECT_TRUE(Taken().Empty());
  EXPECT_TRUE(nodes_.JobsOn(NodeId(1)).empty());
}

TEST_F(NodeTableTest, ASuspendedJobGivesItsCoresBackAndHasThemAgain) {
  nodes_.Take(job_);
  nodes_.FreeCores(job_, jobs_);
  EXPECT_TRUE(Taken().Empty());
  EXPECT_EQ(nodes_.JobsOn(NodeId(1)).size(), 1U);
  nodes_.TakeCores(job_);
  EXPECT_EQ(Taken(), Cpus("0-1"));
}

TEST_F(NodeTableTest, WhatAQuarantinedAttemptSharesWithAJobStaysTakenWhileOneOfThemHoldsIt) {
  nodes_.Take(job_);
  jobs_.Add(job_);
  Quarantine("1-2", false);
  EXPECT_EQ(Taken(), Cpus("0-2"));
  EXPECT_TRUE(nodes_.quarantining().contains(NodeId(1)));
  nodes_.Free(job_, jobs_);
  EXPECT_EQ(Taken(), Cpus("1-2"));
  Quarantine("1-2", true);
  EXPECT_TRUE(Taken().Empty());
  EXPECT_TRUE(nodes_.quarantining().empty());
}

TEST_F(NodeTableTest, WhatIsLoadedIsCountedAgainOnceItsHoldersAreKnown) {
  std::vector<Node> kept = {*nodes_.Find(NodeId(1))};
  NodeTable loaded;
  loaded.Load(std::move(kept), NodeId(5));
  EXPECT_EQ(loaded.next(), NodeId(5));
  jobs_.Add(job_);
  loaded.AddHolder(job_);
  loaded.Recount(NodeId(1), jobs_);
  EXPECT_EQ(loaded.Find("n1")->taken.cpus, Cpus("0-1"));
}

TEST_F(NodeTableTest, DisconnectedNodesRememberSinceWhen) {
  EXPECT_TRUE(nodes_.Find(NodeId(1))->connected);
  nodes_.DisconnectAll(At(8));
  EXPECT_FALSE(nodes_.Find(NodeId(1))->connected);
  EXPECT_EQ(nodes_.Find(NodeId(1))->changed, At(8));
  nodes_.DisconnectAll(At(9));
  EXPECT_EQ(nodes_.Find(NodeId(1))->changed, At(8));
}

}  // namespace
}  // namespace muster::core
