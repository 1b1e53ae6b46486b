// Lives of several controllers keep their promises, and what is planted in them is found.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/sim/leaders/defects.h"
#include "tests/sim/leaders/leader_life.h"

namespace muster::sim {
namespace {

constexpr std::uint64_t kLives = 60;
constexpr std::uint64_t kLivesOfDefect = 60;

// The first life that shows it; 0: none does.
std::uint64_t FoundIn(LeadDefect defect) {
  for (std::uint64_t seed = 1; seed <= kLivesOfDefect; ++seed) {
    if (SimulateLeaders(seed, defect).broken.has_value()) {
      return seed;
    }
  }
  return 0;
}

TEST(Leaders, AChangeOfTheLeadBreaksNoPromise) {
  LeaderFaultCounts counts;
  std::uint64_t epochs = 0;
  for (std::uint64_t seed = 1; seed <= kLives; ++seed) {
    const LeaderLifeResult life = SimulateLeaders(seed);
    EXPECT_FALSE(life.broken.has_value()) << "seed " << seed << ": " << *life.broken;
    EXPECT_GT(life.executions, 0U) << "seed " << seed;
    epochs += life.epochs;
    counts.killed += life.faults.killed;
    counts.stopped += life.faults.stopped;
    counts.sync_stalls += life.faults.sync_stalls;
    counts.restarts += life.faults.restarts;
    counts.failovers += life.faults.failovers;
    counts.cut_from_database += life.faults.cut_from_database;
    counts.handovers += life.faults.handovers;
    counts.edits += life.faults.edits;
    counts.lost_answers += life.faults.lost_answers;
  }
  EXPECT_GT(epochs, 2 * kLives);
  EXPECT_GT(counts.killed, 0U);
  EXPECT_GT(counts.stopped, 0U);
  EXPECT_GT(counts.sync_stalls, 0U);
  EXPECT_GT(counts.restarts, 0U);
  EXPECT_GT(counts.failovers, 0U);
  EXPECT_GT(counts.cut_from_database, 0U);
  EXPECT_GT(counts.handovers, 0U);
  EXPECT_GT(counts.edits, 0U);
  EXPECT_GT(counts.lost_answers, 0U);
}

TEST(Leaders, ASeedMakesOneHistory) {
  const LeaderLifeResult once = SimulateLeaders(7);
  EXPECT_EQ(SimulateLeaders(7).history, once.history);
  EXPECT_NE(SimulateLeaders(8).history, once.history);
}

TEST(Leaders, EveryPlantedDefectIsFound) {
  for (const LeadDefectRow& row : kLeadDefects) {
    if (row.defect != LeadDefect::kLostEntryKept) {
      EXPECT_GT(FoundIn(row.defect), 0U) << row.name;
    }
  }
}

TEST(Leaders, AnEntryThatTheDatabaseLostAndAFollowerKeptIsFound) {
  constexpr std::uint64_t kFirst = 3080;  // of the lives that show it
  EXPECT_TRUE(SimulateLeaders(kFirst, LeadDefect::kLostEntryKept).broken.has_value());
}

}  // namespace
}  // namespace muster::sim
