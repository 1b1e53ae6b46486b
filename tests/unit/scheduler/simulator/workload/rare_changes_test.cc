#include "scheduler/simulator/workload/rare_changes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace muster::sim {
namespace {

TEST(RareChanges, EveryPropertyOfEveryKindIsChangedInTheEnd) {
  RandomSequence random(1);
  std::set<std::string> keys;
  std::size_t configured = 0;
  for (int i = 0; i < 3000; ++i) {
    const Command command = DrawRareChange(4, random);
    if (const auto* change = std::get_if<ChangePolicy>(&command)) {
      for (const Assignment& assignment : change->assignments) {
        keys.insert(assignment.key);
      }
    }
    configured += std::holds_alternative<ConfigurePolicy>(command) ? 1 : 0;
  }
  for (const ChangePolicy& lifted : LiftRareChanges(4)) {
    EXPECT_TRUE(keys.contains(lifted.assignments.back().key)) << lifted.assignments.back().key;
  }
  EXPECT_GT(configured, 100U);
}

TEST(RareChanges, SettingsOfEveryKindAreDrawn) {
  RandomSequence random(1);
  int power = 0;
  int mig = 0;
  int networks = 0;
  int checked = 0;
  for (int i = 0; i < 200; ++i) {
    SchedulerConfig config;
    DrawRareSettings(4, random, &config);
    power += config.power.empty() ? 0 : 1;
    mig += config.mig.empty() ? 0 : 1;
    networks += config.network == nullptr ? 0 : 1;
    checked += config.health.interval > Duration(0) ? 1 : 0;
  }
  for (const int count : {power, mig, networks, checked}) {
    EXPECT_GT(count, 20);
    EXPECT_LT(count, 200);
  }
}

}  // namespace
}  // namespace muster::sim
