// Every scenario over many seeds; a failure prints the seed that repeats it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "scheduler/simulator/crash/simulator.h"
#include "tests/sim/scenario_file.h"

namespace muster::sim {
namespace {

constexpr std::uint64_t kSeeds = 50;

// A number from the environment, or `otherwise`.
std::uint64_t Environment(const char* name, std::uint64_t otherwise) {
  std::uint64_t number = 0;
  const char* text = std::getenv(name);
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

void Add(const FaultCounts& counts, FaultCounts* total) {
  total->connections_lost += counts.connections_lost;
  total->agents_died += counts.agents_died;
  total->records_lost += counts.records_lost;
  total->reboots += counts.reboots;
  total->power_lost += counts.power_lost;
  total->controllers_died += counts.controllers_died;
  total->reports_duplicated += counts.reports_duplicated;
  total->reports_late += counts.reports_late;
  total->replies_lost += counts.replies_lost;
  total->lies += counts.lies;
  total->gpus_lost += counts.gpus_lost;
  total->states_restored += counts.states_restored;
}

// What happened in all lives together.
struct SizeCounts {
  std::uint64_t grown = 0;
  std::uint64_t shrunk = 0;
  std::uint64_t preempted = 0;
  std::uint64_t reserved = 0;
  std::uint64_t changed = 0;
  std::uint64_t refused = 0;
};

// Runs the scenario over the seeds; what went wrong in all of them together.
FaultCounts RunSeeds(const std::string& name, SizeCounts* sizes = nullptr) {
  FaultCounts total;
  std::uint64_t queued_steps = 0;
  const absl::StatusOr<Scenario> scenario = ReadScenario(name);
  EXPECT_TRUE(scenario.ok()) << scenario.status();
  if (!scenario.ok()) {
    return total;
  }
  const std::uint64_t only = Environment("SIM_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t last = only != 0 ? only : Environment("SIM_SEEDS", kSeeds);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const SimulationResult result = Simulate(*scenario, seed);
    EXPECT_FALSE(result.broken.has_value())
        << name << ", seed " << seed << ": " << *result.broken << " (SIM_SEED=" << seed
        << " repeats it; it took " << result.took.count() << " ms there)";
    EXPECT_GT(result.executions, 0U) << name << ", seed " << seed;
    Add(result.faults, &total);
    queued_steps += result.queued_steps;
    if (sizes != nullptr) {
      sizes->grown += result.grown;
      sizes->shrunk += result.shrunk;
      sizes->preempted += result.preempted;
      sizes->reserved += result.reserved;
      sizes->changed += result.changed;
      sizes->refused += result.refused;
    }
  }
  EXPECT_TRUE(only != 0 || queued_steps > 0) << name << ": no step ever waited for another";
  return total;
}

TEST(Sim, AQuietClusterKeepsItsPromises) {
  const FaultCounts counts = RunSeeds("quiet");
  EXPECT_EQ(counts.agents_died + counts.controllers_died + counts.connections_lost, 0U);
}

TEST(Sim, DyingAgentsBreakNoPromise) {
  const FaultCounts counts = RunSeeds("agents_die");
  EXPECT_GT(counts.agents_died, 0U);
  EXPECT_GT(counts.records_lost, 0U);
  EXPECT_GT(counts.reboots, 0U);
  EXPECT_GT(counts.power_lost, 0U);
  EXPECT_GT(counts.connections_lost, 0U);
  EXPECT_GT(counts.reports_duplicated, 0U);
  EXPECT_GT(counts.reports_late, 0U);
}

TEST(Sim, ADyingControllerBreaksNoPromise) {
  const FaultCounts counts = RunSeeds("controller_dies");
  EXPECT_GT(counts.controllers_died, 0U);
  EXPECT_GT(counts.replies_lost, 0U);
}

TEST(Sim, JobsThatChangeTheirSizeBreakNoPromise) {
  SizeCounts sizes;
  const FaultCounts counts = RunSeeds("elastic", &sizes);
  EXPECT_GT(sizes.grown, 0U);
  EXPECT_GT(sizes.shrunk, 0U);
  EXPECT_GT(counts.agents_died, 0U);
  EXPECT_GT(counts.controllers_died, 0U);
  EXPECT_GT(counts.connections_lost, 0U);
}

TEST(Sim, TheOrderCalledPromptBreaksNoPromise) {
  const FaultCounts counts = RunSeeds("prompt");
  EXPECT_GT(counts.agents_died, 0U);
  EXPECT_GT(counts.controllers_died, 0U);
}

TEST(Sim, EverythingAtOnceBreaksNoPromise) {
  const FaultCounts counts = RunSeeds("everything");
  EXPECT_GT(counts.controllers_died, 0U);
  EXPECT_GT(counts.records_lost, 0U);
}

TEST(Sim, AgentsThatLieBreakNoPromise) {
  const FaultCounts counts = RunSeeds("liars");
  EXPECT_GT(counts.lies, kSeeds);
}

TEST(Sim, LivesWithRatesOfTheirOwnBreakNoPromise) {
  const FaultCounts counts = RunSeeds("drawn");
  EXPECT_GT(counts.controllers_died, 0U);
  EXPECT_GT(counts.agents_died, 0U);
}

TEST(Sim, LostGpusPreemptionAndReservationsBreakNoPromise) {
  SizeCounts happened;
  const FaultCounts counts = RunSeeds("gpus", &happened);
  EXPECT_GT(happened.preempted, 0U);
  EXPECT_GT(happened.reserved, kSeeds);
  EXPECT_GT(counts.gpus_lost, kSeeds);
  EXPECT_GT(counts.controllers_died, 0U);
}

TEST(Sim, ASiteThatChangesItsPolicyAndUsersWhoAskForEverythingBreakNoPromise) {
  SizeCounts happened;
  RunSeeds("site", &happened);
  EXPECT_GT(happened.changed, kSeeds * 10);
  EXPECT_GT(happened.refused, 0U);
}

TEST(Sim, AllThatThereIsBreaksNoPromise) {
  SizeCounts happened;
  const FaultCounts counts = RunSeeds("whole", &happened);
  EXPECT_GT(happened.changed, kSeeds * 10);
  EXPECT_GT(happened.reserved, kSeeds);
  EXPECT_GT(happened.refused, kSeeds);
  EXPECT_GT(counts.gpus_lost, 0U);
  EXPECT_GT(counts.controllers_died, 0U);
}

TEST(Sim, AStateRestoredFromAnOldCopyStartsNothingBesideWhatRuns) {
  const FaultCounts counts = RunSeeds("restored");
  EXPECT_GT(counts.states_restored, kSeeds);
}

TEST(Sim, EveryPlantedDefectIsFound) {
  constexpr std::uint64_t kLives = 2000;
  for (const LifeDefectRow& row : kLifeDefects) {
    absl::StatusOr<Scenario> scenario = ReadScenario(std::string(row.scenario));
    ASSERT_TRUE(scenario.ok()) << scenario.status();
    scenario->defect = row.defect;
    std::uint64_t seed = 1;
    while (seed <= kLives && !Simulate(*scenario, seed).broken.has_value()) {
      ++seed;
    }
    EXPECT_LE(seed, kLives) << row.name;
  }
}

TEST(Sim, ASeedMakesOneHistory) {
  const absl::StatusOr<Scenario> scenario = ReadScenario("everything");
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  const SimulationResult once = Simulate(*scenario, 7);
  const SimulationResult again = Simulate(*scenario, 7);
  const SimulationResult other = Simulate(*scenario, 8);
  EXPECT_EQ(once.history, again.history);
  EXPECT_EQ(once.events, again.events);
  EXPECT_EQ(once.took, again.took);
  EXPECT_NE(once.history, other.history);
}

}  // namespace
}  // namespace muster::sim
