#include "daemon/gateway/http/source_budget.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace muster::daemon::http {
namespace {

TEST(SourceBudgetTest, ASourceIsAnAddressOrANetworkOfSixtyFourBits) {
  EXPECT_EQ(SourceBudget::SourceOf("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(SourceBudget::SourceOf("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(SourceBudget::SourceOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
}

TEST(SourceBudgetTest, NoSourceHasMoreConnectionsThanItsOwn) {
  const ManualClock clock{Time()};
  SourceBudget budget({.connections = 3, .connections_of_a_source = 2}, clock);
  EXPECT_TRUE(budget.Enter("a"));
  EXPECT_TRUE(budget.Enter("a"));
  EXPECT_FALSE(budget.Enter("a"));
  EXPECT_TRUE(budget.Enter("b"));
  EXPECT_FALSE(budget.Enter("c")) << "all are taken";
  budget.Leave("a");
  EXPECT_TRUE(budget.Enter("c"));
  EXPECT_EQ(budget.connections(), 3U);
}

TEST(SourceBudgetTest, RequestsComeBackWithTime) {
  ManualClock clock{Time()};
  SourceBudget budget({.requests_per_second = 10, .requests_burst = 20}, clock);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(budget.TakeRequest("a")) << i;
  }
  EXPECT_FALSE(budget.TakeRequest("a"));
  EXPECT_TRUE(budget.TakeRequest("b"));
  clock.Advance(std::chrono::milliseconds(100));
  EXPECT_TRUE(budget.TakeRequest("a"));
  EXPECT_FALSE(budget.TakeRequest("a"));
}

TEST(SourceBudgetTest, WhoIsGoneIsForgotten) {
  ManualClock clock{Time()};
  SourceBudget budget({}, clock);
  for (int i = 0; i < 5000; ++i) {
    const std::string source = absl::StrCat("10.0.", i / 256, ".", i % 256);
    ASSERT_TRUE(budget.Enter(source));
    ASSERT_TRUE(budget.TakeRequest(source));
    budget.Leave(source);
    clock.Advance(std::chrono::milliseconds(100));
  }
  EXPECT_LT(budget.size(), 2100U);
}

}  // namespace
}  // namespace muster::daemon::http
