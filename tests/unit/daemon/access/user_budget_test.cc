#include "daemon/access/user_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr std::uint32_t kOperator = 900;

User Person(std::uint32_t uid) {
  User user;
  user.uid = uid;
  user.name = absl::StrCat("user", uid);
  return user;
}

class UserBudgetTest : public ::testing::Test {
 protected:
  UserBudgetTest() : budget_(Limits(), kOperator, clock_) {}

  static BudgetLimits Limits() {
    BudgetLimits limits;
    limits.calls_per_second = 10;
    limits.calls_burst = 20;
    limits.program_bytes_per_second = Bytes(1000);
    limits.program_bytes_burst = Bytes(5000);
    return limits;
  }

  int CallsThatPass(std::uint32_t uid, int most) {
    int passed = 0;
    while (passed < most && budget_.TakeCall(Person(uid)).ok()) {
      ++passed;
    }
    return passed;
  }

  ManualClock clock_{Time(seconds(1'000'000))};
  UserBudget budget_;
};

TEST_F(UserBudgetTest, ABurstPassesAndThenTheRate) {
  EXPECT_EQ(CallsThatPass(1000, 100), 20);
  clock_.Advance(milliseconds(500));
  EXPECT_EQ(CallsThatPass(1000, 100), 5);
  clock_.Advance(seconds(60));
  EXPECT_EQ(CallsThatPass(1000, 100), 20);
}

TEST_F(UserBudgetTest, OneUsersFloodTakesNothingFromAnother) {
  EXPECT_EQ(CallsThatPass(1000, 100), 20);
  EXPECT_EQ(CallsThatPass(1001, 100), 20);
}

TEST_F(UserBudgetTest, RootAndTheOperatorAreNotBounded) {
  EXPECT_EQ(CallsThatPass(0, 1000), 1000);
  EXPECT_EQ(CallsThatPass(kOperator, 1000), 1000);
  EXPECT_EQ(budget_.size(), 0U);
}

TEST_F(UserBudgetTest, TheRefusalNamesTheUserTheRateAndTheWait) {
  CallsThatPass(1000, 100);
  const absl::Status refused = budget_.TakeCall(Person(1000));
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_EQ(refused.message(),
            "user1000 asks too much of the controller at once: more than 10 calls a second; try "
            "again in 0.1 s");
}

TEST_F(UserBudgetTest, BytesHaveABucketOfTheirOwn) {
  EXPECT_TRUE(budget_.TakeBytes(Person(1000), 4000).ok());
  const absl::Status refused = budget_.TakeBytes(Person(1000), 3000);
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("try again in 2.0 s"));
  EXPECT_TRUE(budget_.TakeBytes(Person(1000), 1000).ok());
  EXPECT_TRUE(budget_.TakeCall(Person(1000)).ok());
  clock_.Advance(seconds(3));
  EXPECT_TRUE(budget_.TakeBytes(Person(1000), 3000).ok());
}

TEST_F(UserBudgetTest, WhatIsLargerThanTheBurstPassesWhenTheBucketIsEmpty) {
  EXPECT_TRUE(budget_.TakeBytes(Person(1000), 9000).ok());
  EXPECT_FALSE(budget_.TakeBytes(Person(1000), 9000).ok());
  clock_.Advance(seconds(9));
  EXPECT_TRUE(budget_.TakeBytes(Person(1000), 9000).ok());
}

TEST_F(UserBudgetTest, ARateOfZeroBoundsNothing) {
  BudgetLimits none = Limits();
  none.calls_per_second = 0;
  none.program_bytes_per_second = Bytes(0);
  UserBudget budget(none, kOperator, clock_);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(budget.TakeCall(Person(1000)).ok());
    ASSERT_TRUE(budget.TakeBytes(Person(1000), 1'000'000).ok());
  }
}

TEST_F(UserBudgetTest, UsersWhoAskNoMoreAreForgotten) {
  for (std::uint32_t uid = 1000; uid < 101'000; ++uid) {
    ASSERT_TRUE(budget_.TakeCall(Person(uid)).ok());
    clock_.Advance(milliseconds(1));
  }
  EXPECT_LE(budget_.size(), 1200U);
}

}  // namespace
}  // namespace muster::daemon
