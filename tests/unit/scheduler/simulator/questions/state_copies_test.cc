#include "scheduler/simulator/questions/state_copies.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <variant>

#include "scheduler/core/state/state_hash.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::sim {
namespace {

using core::testing::PolicyWorld;
using core::testing::Tasks;

// Two jobs run on one node, each with a GPU; a third waits, and one has ended.
class StateCopiesTest : public ::testing::Test {
 protected:
  StateCopiesTest() {
    world_.AddNode("n1", {.cores = 8, .gpus = 2});
    ended_ = Run(world_.ada);
    world_.End(ended_);
    Run(world_.ada);
    Run(world_.bob);
    world_.Submit(Tasks(100));
    core::ClusterState state;
    for (const Event& event : world_.events) {
      rows_.Note(state, event);
      state.Apply(event);
    }
  }
  JobId Run(const User& user) {
    ResourceRequest request = Tasks(2);
    request.gpus_per_node.count = 1;
    JobSpec spec = world_.Spec(request);
    spec.user = user;
    const JobId job = world_.Submit(spec);
    world_.Schedule();
    return job;
  }

  PolicyWorld world_;
  KeptRows rows_;
  JobId ended_;
};

TEST_F(StateCopiesTest, WhatIsLoadedHasTheSameHash) {
  EXPECT_EQ(core::HashOf(core::ClusterState(rows_.ImageOf(world_.state))),
            core::HashOf(world_.state));
}

TEST_F(StateCopiesTest, TheAccountingIsToldOfJobsThatAreNamed) {
  SubmitJob submit;
  DependencyTerm term;
  term.kind = DependencyKind::kAfterOk;
  term.job = ended_;
  submit.spec.dependency.terms = {term};
  Command command = submit;
  rows_.Tell(&command);
  const auto& history = std::get<SubmitJob>(command).history;
  ASSERT_EQ(history.size(), 1U);
  EXPECT_EQ(history[0].ended, 1U);
  EXPECT_EQ(history[0].failed, 0U);
}

TEST_F(StateCopiesTest, EveryDamageIsSeen) {
  const StateImage image = rows_.ImageOf(world_.state);
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    RandomSequence random(seed);
    EXPECT_EQ(UnseenDamage(image, random), std::nullopt) << seed;
  }
}

}  // namespace
}  // namespace muster::sim
