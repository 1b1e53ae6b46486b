#include "scheduler/core/power/power_table.h"

#include <gtest/gtest.h>

#include "scheduler/core/power/power_classes.h"
#include "scheduler/model/machine/power.h"
#include "scheduler/model/settings/power_class.h"

namespace muster::core {
namespace {

using std::chrono::seconds;

NodePowered Event(std::uint32_t node, PowerState state, Duration took = Duration(0)) {
  return NodePowered{NodeId(node), state, Time(seconds(1000)), kNoTime, seconds(120), took};
}

TEST(PowerTable, ANodeOfWhichNothingIsKnownIsOn) {
  const PowerTable table;
  EXPECT_TRUE(table.IsOn(NodeId(1)));
  EXPECT_TRUE(table.away().empty());
}

TEST(PowerTable, JobsCanHaveNodesThatAreOffAndNotOnesThatFailedToBoot) {
  PowerTable table;
  table.Take(Event(1, PowerState::kPoweringDown));
  table.Take(Event(2, PowerState::kOff));
  table.Take(Event(3, PowerState::kPoweringUp));
  table.Take(Event(4, PowerState::kFailed));
  EXPECT_EQ(table.away(), (std::set<NodeId>{NodeId(1), NodeId(2), NodeId(3)}));
  table.Take(Event(3, PowerState::kOn, seconds(50)));
  table.Forget(NodeId(2));
  EXPECT_EQ(table.away(), std::set<NodeId>{NodeId(1)});
  EXPECT_EQ(table.nodes().size(), 3U);
}

TEST(PowerTable, TheNewestBootsAreKeptAndALoadedTableIsTheSame) {
  PowerTable table;
  for (int boot = 1; boot <= 10; ++boot) {
    table.Take(Event(1, PowerState::kOn, seconds(boot)));
  }
  ASSERT_EQ(table.Of(NodeId(1)).boots.size(), kBootsKept);
  EXPECT_EQ(table.Of(NodeId(1)).boots.front(), seconds(3));
  table.Take(Event(2, PowerState::kOff));
  std::vector<NodePower> kept;
  for (const auto& [id, power] : table.nodes()) {
    kept.push_back(power);
  }
  PowerTable loaded;
  loaded.Load(kept);
  EXPECT_EQ(loaded.nodes(), table.nodes());
  EXPECT_EQ(loaded.away(), table.away());
}

TEST(PowerClasses, ANodeIsInTheFirstClassThatNamesIt) {
  std::vector<PowerClass> classes(2);
  classes[0].nodes = "a[1-2]";
  classes[0].except = "a2";
  classes[1].nodes = "b1,a1";
  const PowerClasses index(classes);
  EXPECT_EQ(index.Of("a1"), classes.data());
  EXPECT_EQ(index.Of("b1"), &classes[1]);
  EXPECT_EQ(index.Of("c1"), nullptr);
  EXPECT_TRUE(index.IsExcepted("a2"));
  EXPECT_FALSE(index.IsExcepted("a1"));
  classes[1].nodes = "ALL";
  EXPECT_EQ(PowerClasses(classes).Of("c1"), &classes[1]);
}

}  // namespace
}  // namespace muster::core
