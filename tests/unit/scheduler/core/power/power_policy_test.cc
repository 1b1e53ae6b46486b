#include "scheduler/core/power/power_policy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "tests/unit/scheduler/core/many_cases.h"

namespace muster::core {
namespace {

using std::chrono::seconds;

constexpr Time kNow{Duration(1'000'000'000)};

PowerClass Plain() {
  PowerClass kind;
  kind.name = "n";
  kind.idle = seconds(600);
  kind.suspend_time = seconds(30);
  kind.busy_watts = 350;
  kind.idle_watts = 150;
  kind.off_watts = 10;
  return kind;
}

PowerCandidate Idle(std::uint32_t id, Duration idle) {
  PowerCandidate node;
  node.node = NodeId(id);
  node.boot = seconds(120);
  node.idle_since = kNow - idle;
  return node;
}

PowerCandidate Off(std::uint32_t id, Time needed) {
  PowerCandidate node;
  node.node = NodeId(id);
  node.boot = seconds(120);
  node.state = PowerState::kOff;
  node.needed = needed;
  return node;
}

std::vector<NodeId> Ids(std::initializer_list<std::uint32_t> ids) {
  std::vector<NodeId> nodes;
  for (const std::uint32_t id : ids) {
    nodes.emplace_back(id);
  }
  return nodes;
}

TEST(PowerPolicy, ANodeThatWasIdleForItsTimeIsSwitchedOff) {
  const PowerOrders orders =
      DecidePower({Idle(1, seconds(599)), Idle(2, seconds(600))}, {Plain()}, kNow);
  EXPECT_EQ(orders.suspend, Ids({2}));
  EXPECT_TRUE(orders.resume.empty());
  EXPECT_EQ(orders.wake, kNow + seconds(1));
}

TEST(PowerPolicy, NothingIsSwitchedOffWithoutAnIdleTime) {
  PowerClass kind = Plain();
  kind.idle = seconds(0);
  const PowerOrders orders = DecidePower({Idle(1, seconds(86'400))}, {kind}, kNow);
  EXPECT_TRUE(orders.suspend.empty());
  EXPECT_EQ(orders.wake, kNoTime);
}

TEST(PowerPolicy, ABusyAndAnExceptedNodeStayOn) {
  PowerCandidate busy = Idle(1, seconds(900));
  busy.busy = true;
  PowerCandidate excepted = Idle(2, seconds(900));
  excepted.excepted = true;
  EXPECT_TRUE(DecidePower({busy, excepted}, {Plain()}, kNow).suspend.empty());
}

TEST(PowerPolicy, TheLongestIdleGoesFirstAndAsManyStayAsAreToBeKept) {
  PowerClass kind = Plain();
  kind.keep_on = 2;
  const PowerOrders orders = DecidePower(
      {Idle(1, seconds(700)), Idle(2, seconds(900)), Idle(3, seconds(800))}, {kind}, kNow);
  EXPECT_EQ(orders.suspend, Ids({2}));
}

TEST(PowerPolicy, ANodeThatWillBeNeededBeforeItPaysStaysOn) {
  // 150 s at 340 W more than off, against 140 W saved: from 364.3 s on.
  const Duration pays = *BreakEven(Plain(), seconds(120));
  EXPECT_GT(pays, seconds(364));
  EXPECT_LT(pays, seconds(365));
  PowerCandidate node = Idle(1, seconds(900));
  node.needed = kNow + pays - Duration(1);
  EXPECT_TRUE(DecidePower({node}, {Plain()}, kNow).suspend.empty());
  node.needed = kNow + pays;
  EXPECT_EQ(DecidePower({node}, {Plain()}, kNow).suspend, Ids({1}));
}

TEST(PowerPolicy, ANodeThatDrawsAsMuchWhenOffIsNeverSwitchedOff) {
  PowerClass kind = Plain();
  kind.off_watts = kind.idle_watts;
  EXPECT_FALSE(BreakEven(kind, seconds(120)).has_value());
  EXPECT_TRUE(DecidePower({Idle(1, seconds(9000))}, {kind}, kNow).suspend.empty());
}

TEST(PowerPolicy, WithoutWattsItPaysOnceTheNodeCanBeBackInTime) {
  PowerClass kind = Plain();
  kind.busy_watts = kind.idle_watts = kind.off_watts = 0;
  EXPECT_EQ(BreakEven(kind, seconds(120)), seconds(150));
}

TEST(PowerPolicy, ANodeIsSwitchedOnSoMuchEarlierAsItBoots) {
  PowerOrders orders = DecidePower({Off(1, kNow + seconds(121))}, {Plain()}, kNow);
  EXPECT_TRUE(orders.resume.empty());
  EXPECT_EQ(orders.wake, kNow + seconds(1));
  orders = DecidePower({Off(1, kNow + seconds(120))}, {Plain()}, kNow);
  EXPECT_EQ(orders.resume, Ids({1}));
}

TEST(PowerPolicy, ANodeThatNobodyNeedsStaysOff) {
  EXPECT_TRUE(DecidePower({Off(1, kNoTime)}, {Plain()}, kNow).resume.empty());
}

TEST(PowerPolicy, NoMoreCloudNodesAreOnThanTheClassMayHave) {
  PowerClass kind = Plain();
  kind.most_on = 2;
  const PowerOrders orders = DecidePower(
      {Idle(1, seconds(1)), Off(2, kNow + seconds(9)), Off(3, kNow + seconds(5))}, {kind}, kNow);
  EXPECT_EQ(orders.resume, Ids({3}));
}

TEST(PowerPolicy, OrdersGoOutNoFasterThanTheRate) {
  PowerClass kind = Plain();
  kind.rate = 2;
  PowerCandidate booting = Off(4, kNow);
  booting.state = PowerState::kPoweringUp;
  booting.since = kNow - seconds(20);
  const PowerOrders orders = DecidePower({Off(1, kNow), Off(2, kNow), booting}, {kind}, kNow);
  EXPECT_EQ(orders.resume, Ids({1}));
  EXPECT_EQ(orders.wake, kNow + seconds(40));
}

TEST(PowerPolicy, ClassesAreJudgedApart) {
  PowerClass slow = Plain();
  slow.idle = seconds(3600);
  PowerCandidate other = Idle(2, seconds(900));
  other.kind = 1;
  EXPECT_EQ(DecidePower({Idle(1, seconds(900)), other}, {Plain(), slow}, kNow).suspend, Ids({1}));
}

TEST(PowerPolicy, ANodeCanBeUsedOnceItHasBooted) {
  NodePower power;
  power.boot = seconds(120);
  power.since = kNow - seconds(10);
  power.until = kNow + seconds(20);
  EXPECT_EQ(AvailableFrom(power, kNow), kNow);
  power.state = PowerState::kPoweringDown;
  EXPECT_EQ(AvailableFrom(power, kNow), kNow + seconds(140));
  power.state = PowerState::kOff;
  EXPECT_EQ(AvailableFrom(power, kNow), kNow + seconds(120));
  power.state = PowerState::kPoweringUp;
  EXPECT_EQ(AvailableFrom(power, kNow), kNow + seconds(110));
  EXPECT_EQ(AvailableFrom(power, kNow + seconds(500)), kNow + seconds(500));
  power.state = PowerState::kFailed;
  EXPECT_EQ(AvailableFrom(power, kNow), kNoTime);
}

TEST(PowerPolicy, BootTimesAreLearnedFromThreeMeasurementsOn) {
  EXPECT_EQ(LearnedBootTime({seconds(9), seconds(9)}, seconds(60)), seconds(60));
  EXPECT_EQ(LearnedBootTime({seconds(9), seconds(8), seconds(7)}, seconds(60)), seconds(9));
  EXPECT_EQ(LearnedBootTime({seconds(80), seconds(90), seconds(4000), seconds(85)}, seconds(60)),
            seconds(90));
}

// Clusters of all kinds.
struct World {
  std::vector<PowerClass> classes;
  std::vector<PowerCandidate> nodes;
};

Duration Some(int least, int most) {
  return seconds(*rc::gen::inRange(least, most));
}

World AnyWorld() {
  World world;
  const int classes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < classes; ++i) {
    PowerClass kind = Plain();
    kind.idle = Some(0, 1000);
    kind.suspend_time = Some(0, 100);
    kind.busy_watts = *rc::gen::inRange(0U, 500U);
    kind.idle_watts = *rc::gen::inRange(0U, 300U);
    kind.off_watts = *rc::gen::inRange(0U, 30U);
    kind.keep_on = *rc::gen::inRange(0U, 4U);
    kind.most_on = *rc::gen::inRange(0U, 5U);
    kind.rate = *rc::gen::inRange(0U, 4U);
    world.classes.push_back(kind);
  }
  const int nodes = *rc::gen::inRange(0, 12);
  for (int i = 1; i <= nodes; ++i) {
    PowerCandidate node = Idle(static_cast<std::uint32_t>(i), Some(0, 2000));
    node.kind = *rc::gen::inRange<std::size_t>(0, world.classes.size());
    node.state = static_cast<PowerState>(*rc::gen::inRange(0, 5));
    node.since = kNow - Some(0, 200);
    node.boot = Some(0, 300);
    node.busy = *rc::gen::inRange(0, 3) == 0;
    node.excepted = *rc::gen::inRange(0, 5) == 0;
    node.needed = *rc::gen::inRange(0, 2) == 0 ? kNoTime : kNow + Some(-100, 1500);
    world.nodes.push_back(node);
  }
  return world;
}

const PowerCandidate& NodeOf(const World& world, NodeId id) {
  return world.nodes[id.value() - 1];
}

TEST(PowerPolicy, NeverSuspendsABusyExceptedOrAwayNodeOrOneNeededBeforeItPays) {
  testing::HoldsInManyCases([] {
    const World world = AnyWorld();
    for (const NodeId id : DecidePower(world.nodes, world.classes, kNow).suspend) {
      const PowerCandidate& node = NodeOf(world, id);
      const PowerClass& kind = world.classes[node.kind];
      RC_ASSERT(node.state == PowerState::kOn && !node.busy && !node.excepted);
      RC_ASSERT(kNow - node.idle_since >= kind.idle && kind.idle > seconds(0));
      const bool is_needed = node.needed != kNoTime;
      RC_ASSERT(!is_needed || node.needed >= kNow + kind.suspend_time + node.boot);
      // What it costs to be away until then is no more than what idling costs.
      if (is_needed && kind.idle_watts > 0) {
        const auto idle = (node.needed - kNow).count();
        const auto away = (kind.suspend_time + node.boot).count();
        RC_ASSERT(away * kind.busy_watts + (idle - away) * kind.off_watts <=
                  idle * kind.idle_watts);
      }
    }
  });
}

TEST(PowerPolicy, KeepsAsManyIdleNodesOnAsItIsTold) {
  testing::HoldsInManyCases([] {
    const World world = AnyWorld();
    std::map<std::size_t, std::int64_t> idle;
    std::map<std::size_t, std::int64_t> gone;
    for (const PowerCandidate& node : world.nodes) {
      idle[node.kind] += node.state == PowerState::kOn && !node.busy ? 1 : 0;
    }
    for (const NodeId id : DecidePower(world.nodes, world.classes, kNow).suspend) {
      ++gone[NodeOf(world, id).kind];
    }
    for (const auto& [kind, count] : gone) {
      RC_ASSERT(idle[kind] - count >= world.classes[kind].keep_on);
    }
  });
}

TEST(PowerPolicy, ResumesInTimeWhateverIsNeededAndNothingElse) {
  testing::HoldsInManyCases([] {
    World world = AnyWorld();
    for (PowerClass& kind : world.classes) {
      kind.most_on = 0;
      kind.rate = 0;
    }
    const PowerOrders orders = DecidePower(world.nodes, world.classes, kNow);
    for (const PowerCandidate& node : world.nodes) {
      const bool due = node.state == PowerState::kOff && node.needed != kNoTime &&
                       node.needed - node.boot <= kNow;
      const bool ordered = std::count(orders.resume.begin(), orders.resume.end(), node.node) == 1;
      RC_ASSERT(due == ordered);
      // Nobody sleeps past the moment at which the boot must begin.
      if (node.state == PowerState::kOff && node.needed != kNoTime && !due) {
        RC_ASSERT(orders.wake != kNoTime && orders.wake <= node.needed - node.boot);
      }
    }
  });
}

TEST(PowerPolicy, NeverHasMoreOnThanTheMostAndNeverOrdersFasterThanTheRate) {
  testing::HoldsInManyCases([] {
    const World world = AnyWorld();
    const PowerOrders orders = DecidePower(world.nodes, world.classes, kNow);
    std::map<std::size_t, std::uint32_t> on;
    std::map<std::size_t, std::uint32_t> recent;
    std::map<std::size_t, std::uint32_t> ordered;
    for (const PowerCandidate& node : world.nodes) {
      on[node.kind] += node.state != PowerState::kOff && node.state != PowerState::kFailed ? 1 : 0;
      recent[node.kind] += node.state == PowerState::kPoweringUp && node.since > kNow - seconds(60);
    }
    for (const NodeId id : orders.resume) {
      ++ordered[NodeOf(world, id).kind];
    }
    for (const auto& [number, count] : ordered) {
      const PowerClass& kind = world.classes[number];
      RC_ASSERT(kind.most_on == 0 || on[number] + count <= kind.most_on);
      RC_ASSERT(kind.rate == 0 || recent[number] + count <= kind.rate);
    }
  });
}

TEST(PowerPolicy, TheOrderOfTheNodesDoesNotMatter) {
  testing::HoldsInManyCases([] {
    const World world = AnyWorld();
    std::vector<PowerCandidate> turned(world.nodes.rbegin(), world.nodes.rend());
    const PowerOrders one = DecidePower(world.nodes, world.classes, kNow);
    const PowerOrders other = DecidePower(turned, world.classes, kNow);
    RC_ASSERT(one.suspend == other.suspend && one.resume == other.resume && one.wake == other.wake);
  });
}

TEST(PowerPolicy, ALearnedBootTimeIsOneThatWasMeasured) {
  testing::HoldsInManyCases([] {
    std::vector<Duration> measured;
    const int count = *rc::gen::inRange(3, 20);
    for (int i = 0; i < count; ++i) {
      measured.push_back(Some(1, 500));
    }
    const Duration learned = LearnedBootTime(measured, seconds(60));
    const auto slower = std::count_if(measured.begin(), measured.end(),
                                      [&](Duration boot) { return boot > learned; });
    RC_ASSERT(std::find(measured.begin(), measured.end(), learned) != measured.end());
    RC_ASSERT(slower * 4 <= count);
  });
}

}  // namespace
}  // namespace muster::core
