#include "agent/supervisor/step/step_ranks.h"

#include <gtest/gtest.h>

#include <csignal>

#include "agent/supervisor/step/step_plan.h"
#include "agent/supervisor/step/step_rank.h"

namespace muster::agent {
namespace {

StepPlan PlanOf(std::uint32_t first, std::uint32_t number) {
  StepPlan plan;
  plan.step = StepId(1);
  plan.placement.nodes.emplace_back();
  for (std::uint32_t i = 0; i < number; ++i) {
    RankPlacement rank;
    rank.rank = first + i;
    rank.cpus = CpuSet::Of({i});
    plan.placement.nodes[0].ranks.push_back(rank);
    plan.placement.nodes[0].cpus |= rank.cpus;
  }
  return plan;
}

TEST(StepRanks, AreThoseOfThePlanByTheirNumbers) {
  const StepRanks ranks(PlanOf(4, 3));
  ASSERT_EQ(ranks.all().size(), 3U);
  ASSERT_NE(ranks.Numbered(6), nullptr);
  EXPECT_EQ(ranks.Numbered(6)->exit.rank, 6U);
  EXPECT_EQ(ranks.LocalNumberOf(*ranks.Numbered(6)), 2U);
  EXPECT_EQ(ranks.Numbered(3), nullptr);
}

TEST(StepRanks, AScriptIsOneRankWithAllCores) {
  StepPlan plan = PlanOf(0, 3);
  plan.script = "/script";
  const StepRanks ranks(plan);
  ASSERT_EQ(ranks.all().size(), 1U);
  EXPECT_EQ(ranks.all()[0]->placement.cpus, plan.node().cpus);
}

TEST(StepRanks, AProcessIsARanksFromItsForkToItsReaping) {
  const StepRanks ranks(PlanOf(0, 2));
  EXPECT_FALSE(ranks.AnyRuns());
  EXPECT_EQ(ranks.Find(77), nullptr);
  ranks.all()[1]->pid = 77;
  EXPECT_TRUE(ranks.AnyRuns());
  EXPECT_EQ(ranks.Find(77), ranks.all()[1].get());
  EXPECT_EQ(ranks.Find(78), nullptr);
  ranks.all()[1]->pid = 0;
  EXPECT_FALSE(ranks.AnyRuns());
  ranks.Signal(SIGKILL);  // reaches nobody
  ranks.SignalLeaders(SIGKILL);
}

TEST(StepRanks, AllAreSettledOrEndedOnceEachIs) {
  const StepRanks ranks(PlanOf(0, 2));
  ranks.all()[0]->settled = true;
  EXPECT_FALSE(ranks.AllSettled());
  ranks.all()[1]->settled = true;
  EXPECT_TRUE(ranks.AllSettled());
  ranks.all()[0]->ended = true;
  EXPECT_FALSE(ranks.AllEnded());
  ranks.all()[1]->ended = true;
  EXPECT_TRUE(ranks.AllEnded());
}

TEST(StepRanks, TheLeaderIsTheScriptsOwnProcessOnceItRuns) {
  StepPlan plan = PlanOf(0, 1);
  plan.script = "/script";
  const StepRanks ranks(plan);
  StepRank& script = *ranks.all()[0];
  script.pid = 77;
  EXPECT_EQ(ranks.Leader(), 0) << "its exec is not known yet";
  script.settled = true;
  EXPECT_EQ(ranks.Leader(), 77);
  script.awaited = 78;
  EXPECT_EQ(ranks.Leader(), 0) << "that is the restorer";
  EXPECT_EQ(ranks.Find(78), &script);
}

}  // namespace
}  // namespace muster::agent
