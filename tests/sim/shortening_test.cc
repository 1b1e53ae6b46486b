#include "tests/sim/shortening.h"

#include <gtest/gtest.h>

#include "scheduler/runtime/file.h"
#include "tests/sim/scenario_file.h"

namespace muster::sim {
namespace {

constexpr std::uint64_t kTries = 5;

ShortLife Broken(const std::string& name, LifeDefect defect) {
  ShortLife life{ReadScenario(name).value(), 0, {}};
  life.scenario.defect = defect;
  do {
    life.result = Simulate(life.scenario, ++life.seed);
  } while (!life.result.broken.has_value());
  return life;
}

TEST(Shortening, AShorterLifeBreaksTheSamePromise) {
  const ShortLife whole = Broken("everything", LifeDefect::kAnsweredEarly);
  const ShortLife shorter = Shorten(whole.scenario, whole.seed, kTries);
  ASSERT_TRUE(shorter.result.broken.has_value());
  EXPECT_EQ(PromiseOf(*shorter.result.broken), PromiseOf(*whole.result.broken));
  EXPECT_LT(shorter.result.events, whole.result.events / 2);
  EXPECT_LT(shorter.scenario.submissions, whole.scenario.submissions);
  // It is that life again.
  EXPECT_EQ(Simulate(shorter.scenario, shorter.seed).broken, shorter.result.broken);
}

TEST(Shortening, RatesThatWereDrawnAreWrittenDown) {
  const ShortLife whole = Broken("drawn", LifeDefect::kAnsweredEarly);
  EXPECT_FALSE(Shorten(whole.scenario, whole.seed, kTries).scenario.drawn);
}

TEST(Shortening, APromiseIsKnownByItsSentenceUpToTheFirstNumber) {
  EXPECT_EQ(PromiseOf("promise 3: job 7 attempt 1 on node2 was started twice"), "promise 3: job ");
  EXPECT_EQ(PromiseOf("invariant: a job"), "invariant: a job");
}

TEST(ScenarioFile, AScenarioIsReadAsItWasWritten) {
  for (const char* name : {"quiet", "everything", "elastic", "prompt", "drawn", "liars"}) {
    Scenario scenario = ReadScenario(name).value();
    const std::string path = ::testing::TempDir() + "scenario.toml";
    ASSERT_TRUE(WriteFileAtomically(path, ScenarioText(scenario)).ok());
    scenario.name = path;
    EXPECT_EQ(ReadScenario(path).value(), scenario) << name;
  }
}

}  // namespace
}  // namespace muster::sim
