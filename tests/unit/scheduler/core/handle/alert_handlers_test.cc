#include "scheduler/core/handle/alert_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "scheduler/core/state/state_hash.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::World;

Alert Of(const std::string& rule, const std::string& subject, const std::string& text = "") {
  Alert alert;
  alert.rule = rule;
  alert.severity = "critical";
  alert.subject = subject;
  alert.text = text;
  alert.since = At(1);
  return alert;
}

std::vector<Alert> OpenIn(const ClusterState& state) {
  std::vector<Alert> open;
  for (const auto& [name, alert] : state.alerts().all()) {
    open.push_back(alert);
  }
  return open;
}

TEST(AlertHandlersTest, WhatIsNewBeginsAndWhatIsGoneEnds) {
  World world;
  world.Take(SettleAlerts{{Of("NodeSilent", "n1"), Of("NodeSilent", "n2")}});
  EXPECT_THAT(OpenIn(world.state), SizeIs(2));
  const Transition next = world.Take(SettleAlerts{{Of("NodeSilent", "n2"), Of("GpuXid", "n2")}});
  ASSERT_THAT(next.events, SizeIs(2));
  EXPECT_EQ(std::get<AlertBegan>(next.events[0]).alert, Of("GpuXid", "n2"));
  EXPECT_EQ(std::get<AlertEnded>(next.events[1]).alert, Of("NodeSilent", "n1"));
  EXPECT_THAT(OpenIn(world.state),
              ::testing::ElementsAre(Of("GpuXid", "n2"), Of("NodeSilent", "n2")));
}

TEST(AlertHandlersTest, WhatIsReportedAgainOrTwiceIsNoEvent) {
  World world;
  const Alert silent = Of("NodeSilent", "n1", "for a minute");
  EXPECT_THAT(world.Take(SettleAlerts{{silent, silent}}).events, SizeIs(1));
  const std::uint64_t before = HashOf(world.state);
  EXPECT_THAT(world.Take(SettleAlerts{{Of("NodeSilent", "n1", "for an hour")}}).events, IsEmpty());
  EXPECT_EQ(HashOf(world.state), before);
}

TEST(AlertHandlersTest, AnOpenAlertIsPartOfTheStatesHash) {
  World with;
  World without;
  EXPECT_EQ(HashOf(with.state), HashOf(without.state));
  with.Take(SettleAlerts{{Of("NodeSilent", "n1")}});
  without.Take(SettleAlerts{{Of("NodeSilent", "n2")}});
  EXPECT_NE(HashOf(with.state), HashOf(without.state));
}

}  // namespace
}  // namespace muster::core
