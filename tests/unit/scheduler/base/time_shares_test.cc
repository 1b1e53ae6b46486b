#include "scheduler/base/time_shares.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace muster {
namespace {

using Groups = std::map<std::string, std::vector<int>>;

const Groups kGroups = {{"large", {1, 2, 3}}, {"none", {}}, {"small", {4}}};

TEST(TimeShares, SmallGroupsComeFirstAndLeaveTheOthersTheirRest) {
  long now = 0;
  std::vector<std::string> order;
  std::vector<long> deadlines;
  ShareTime(
      kGroups, [&now] { return now; }, 90L,
      [&](const Groups::value_type& group, long deadline) {
        order.push_back(group.first);
        deadlines.push_back(deadline);
        now += 10;
        return true;
      });
  EXPECT_EQ(order, (std::vector<std::string>{"none", "small", "large"}));
  EXPECT_EQ(deadlines, (std::vector<long>{30, 50, 90}));
}

TEST(TimeShares, ItEndsWhenNoMoreIsWanted) {
  int looks = 0;
  ShareTime(
      kGroups, [] { return 0L; }, 90L, [&](const auto&, long) { return ++looks < 2; });
  EXPECT_EQ(looks, 2);
}

}  // namespace
}  // namespace muster
