#include "scheduler/simulator/questions/aimed_commands.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <variant>

#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::sim {
namespace {

using core::testing::PolicyWorld;
using core::testing::Tasks;

TEST(AimedCommands, ReportsAreOfTheJobThatRuns) {
  PolicyWorld world;
  world.AddNode("n1");
  const JobId running = world.Submit(Tasks(1, 2));
  world.Schedule();
  world.Submit(Tasks(1, 4));
  int reports = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    RandomSequence random(seed);
    const Command command = DrawNews(world.state, world.now, random);
    if (const auto* taken = std::get_if<TakeReport>(&command)) {
      EXPECT_EQ(taken->report.job, running);
      EXPECT_EQ(taken->report.index, 1U);
      ++reports;
    }
  }
  EXPECT_GT(reports, 50);
}

TEST(AimedCommands, ThereAreSomeForAClusterOfNothing) {
  const core::ClusterState nothing;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    RandomSequence random(seed);
    EXPECT_TRUE(std::holds_alternative<TickElastic>(DrawNews(nothing, kNoTime, random)));
    EXPECT_TRUE(std::holds_alternative<SubmitJob>(DrawAsked(nothing, kNoTime, random)));
  }
}

}  // namespace
}  // namespace muster::sim
