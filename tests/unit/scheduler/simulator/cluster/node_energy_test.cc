#include "scheduler/simulator/cluster/node_energy.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

constexpr std::int64_t kAnHour = 3600;

PowerClass Kind() {
  PowerClass kind;
  kind.busy_watts = 400;
  kind.idle_watts = 200;
  kind.off_watts = 10;
  return kind;
}

TEST(NodeEnergy, WattsGrowWithTheThreadsThatRunSomething) {
  NodeEnergy energy;
  energy.AddNode(Kind(), 4, 0);
  energy.SetUse(0, 2, kAnHour);
  energy.SetUse(0, 4, 2 * kAnHour);
  energy.Close(3 * kAnHour);
  EXPECT_DOUBLE_EQ(energy.taken_kwh(), 0.2 + 0.3 + 0.4);
  EXPECT_DOUBLE_EQ(energy.always_on_kwh(), energy.taken_kwh());
}

TEST(NodeEnergy, ANodeThatIsOffTakesLittleAndOneThatBootsTakesAll) {
  NodeEnergy energy;
  energy.AddNode(Kind(), 1, 0);
  energy.SetPower(0, PowerState::kPoweringDown, 0);
  energy.SetPower(0, PowerState::kOff, kAnHour);
  energy.SetPower(0, PowerState::kPoweringUp, 2 * kAnHour);
  energy.SetPower(0, PowerState::kOn, 3 * kAnHour);
  energy.Close(4 * kAnHour);
  EXPECT_DOUBLE_EQ(energy.taken_kwh(), 0.4 + 0.01 + 0.4 + 0.2);
  EXPECT_DOUBLE_EQ(energy.always_on_kwh(), 0.8);
  EXPECT_EQ(energy.switched_off(), 1U);
}

TEST(NodeEnergy, WaitsForBootsAreCountedAveragedAndTheLongestIsKept) {
  NodeEnergy energy;
  EXPECT_EQ(energy.mean_boot_wait(), 0);
  energy.NoteBootWait(100);
  energy.NoteBootWait(140);
  EXPECT_EQ(energy.boot_waits(), 2U);
  EXPECT_DOUBLE_EQ(energy.mean_boot_wait(), 120);
  EXPECT_EQ(energy.longest_boot_wait(), 140);
}

}  // namespace
}  // namespace muster::sim
