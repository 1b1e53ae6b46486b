// What a change of settings says.

#include "cli/whatif/setting_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "absl/numeric/int128.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

TEST(SettingChange, IsReadWordByWord) {
  const auto changes = ReadChanges("nodes+=16, policy.backfill = easy,a.b=\"x,y\",n*=2");
  ASSERT_TRUE(changes.ok());
  ASSERT_EQ(changes->size(), 4U);
  EXPECT_EQ((*changes)[0].key, "nodes");
  EXPECT_EQ((*changes)[0].sign, '+');
  EXPECT_EQ((*changes)[0].by, 16);
  EXPECT_EQ((*changes)[1].key, "policy.backfill");
  EXPECT_EQ((*changes)[1].value, "easy");
  EXPECT_EQ((*changes)[2].value, "\"x,y\"");
  EXPECT_EQ((*changes)[3].sign, '*');
}

TEST(SettingChange, WhatIsNoneIsRefused) {
  for (const char* text : {"", "nodes", "=4", "+=4", " =1", "nodes=1,,policy=easy"}) {
    EXPECT_THAT(std::string(ReadChanges(text).status().message()), HasSubstr("write KEY=VALUE"))
        << text;
  }
  for (const char* text : {"n+=", "n+=0", "n-=-1", "n*=many", "n+=1000000000001"}) {
    EXPECT_THAT(std::string(ReadChanges(text).status().message()), HasSubstr("whole number"))
        << text;
  }
}

TEST(SettingChange, ANumberStaysBetweenOneAndItsMost) {
  EXPECT_TRUE(rc::check([] {
    SettingChange change;
    change.sign = *rc::gen::elementOf(std::string("+-*"));
    change.by = *rc::gen::inRange<std::int64_t>(1, kChangeMax);
    const auto number = *rc::gen::arbitrary<std::int64_t>();
    const auto max = *rc::gen::inRange<std::int64_t>(1, kChangeMax);
    const absl::StatusOr<std::int64_t> changed = ChangedNumber(change, number, max);
    const absl::int128 from = number;
    const absl::int128 exact = change.sign == '+'   ? from + change.by
                               : change.sign == '-' ? from - change.by
                                                    : from * change.by;
    RC_ASSERT((changed.ok() == (exact >= 1 && exact <= max)));
    RC_ASSERT((!changed.ok() || *changed == exact));
  }));
}

TEST(SettingChange, TheNearestNamesAreThoseOfTheFewestEdits) {
  const std::set<std::string> known = {"policy.backfill", "priority.weight_age",
                                       "priority.weight_qos", "nodes"};
  EXPECT_EQ(NearestNames("priority.weights.age", known),
            "priority.weight_age, priority.weight_qos, policy.backfill");
  EXPECT_EQ(NearestNames("nodes", {"nodes"}), "nodes");
  EXPECT_EQ(NearestNames(std::string(100'000, 'x'), {"a", "b", "c", "d"}), "a, b, c");
}

}  // namespace
}  // namespace muster::cli
