#include "scheduler/model/policy/policy_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Said(const PolicyObject& object) {
  std::string text;
  for (const Assignment& line : Describe(object)) {
    text += (text.empty() ? "" : " ") + line.key + "=" + line.value;
  }
  return text;
}

PolicyObject With(PolicyKind kind, const std::vector<Assignment>& lines) {
  PolicyObject object = MakePolicyObject(kind, kind == PolicyKind::kAssociation ? "a/b" : "x");
  for (const Assignment& line : lines) {
    const absl::Status status = Assign(object, line);
    EXPECT_TRUE(status.ok()) << status;
  }
  return object;
}

TEST(PolicyText, KeysAreFoundWhateverTheirCaseAndUnderscores) {
  const PolicyObject qos = With(PolicyKind::kQos, {{"max_tres_per_user", "cpu=64"},
                                                   {"PRIORITY", "100"},
                                                   {"MaxJobs", "3"},
                                                   {"MaxTRES", "node=2"},
                                                   {"maxwall", "2-00:00:00"}});
  EXPECT_EQ(Said(qos),
            "Priority=100 MaxTRESPerJob=node=2 MaxWall=2-00:00:00 MaxTRESPerUser=cpu=64 "
            "MaxJobsPerUser=3");
}

// A value that is accepted for the key and is not its default.
std::string ValueFor(const std::string& key) {
  for (const auto& [part, value] :
       std::vector<std::pair<std::string, std::string>>{{"TRES", "cpu=4,mem=2G"},
                                                        {"StartTime", "2030-01-31T08:00:00Z"},
                                                        {"EndTime", "2030-02-01T08:00:00Z"},
                                                        {"Time", "1:30:00"},
                                                        {"Wall", "2-12:00:00"},
                                                        {"State", "DRAIN"},
                                                        {"PreemptMode", "REQUEUE"},
                                                        {"Flags", "MAINT"},
                                                        {"Default", "YES"},
                                                        {"Exclusive", "YES"},
                                                        {"UsageFactor", "0.25"},
                                                        {"Nodes", "7"},
                                                        {"NodeCnt", "3"},
                                                        {"Jobs", "12"},
                                                        {"Priority", "9"},
                                                        {"Fairshare", "parent"}}) {
    if (key == "Nodes") {
      return "n[1-4],big";
    }
    if (key.find(part) != std::string::npos && key != "DefaultQOS") {
      return value;
    }
  }
  return "name1";
}

TEST(PolicyText, WhatEveryKeySaysIsReadBack) {
  for (const PolicyKind kind : {PolicyKind::kPartition, PolicyKind::kQos, PolicyKind::kAccount,
                                PolicyKind::kAssociation, PolicyKind::kReservation}) {
    for (const std::string& key : PolicyKeys(kind)) {
      if (key == "Duration") {
        continue;  // said as EndTime
      }
      std::string value = ValueFor(key);
      value = kind == PolicyKind::kQos && key == "Flags" ? "DenyOnLimit" : value;
      const PolicyObject object = With(kind, {{key, value}});
      const std::vector<Assignment> said = Describe(object);
      ASSERT_EQ(said.size(), 1U) << key << " " << Said(object);
      EXPECT_EQ(said.front(), (Assignment{key, value}));
      EXPECT_EQ(With(kind, said), object);
      EXPECT_EQ(PolicyKey(kind, key), key);
    }
  }
}

TEST(PolicyText, ALimitIsTakenAwayByMinusOneUnlimitedOrNothing) {
  PolicyObject qos = With(PolicyKind::kQos, {{"GrpJobs", "4"}, {"MaxWall", "60"}});
  for (const char* nothing : {"-1", "UNLIMITED", ""}) {
    PolicyObject copy = qos;
    ASSERT_TRUE(Assign(copy, {"GrpJobs", nothing}).ok());
    ASSERT_TRUE(Assign(copy, {"MaxWall", nothing}).ok());
    EXPECT_EQ(Said(copy), "");
  }
}

TEST(PolicyText, ListsAndFlagsGrowAndShrink) {
  PolicyObject object = With(PolicyKind::kPartition, {{"AllowAccounts", "b,a"}});
  ASSERT_TRUE(Assign(object, {"AllowAccounts", "+c"}).ok());
  EXPECT_EQ(Said(object), "AllowAccounts=a,b,c");
  ASSERT_TRUE(Assign(object, {"AllowAccounts", "-a,c"}).ok());
  EXPECT_EQ(Said(object), "AllowAccounts=b");
  ASSERT_TRUE(Assign(object, {"AllowAccounts", "ALL"}).ok());
  EXPECT_EQ(Said(object), "");
}

TEST(PolicyText, NonsenseNamesTheKeyAndChangesNothing) {
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"GrpJobs", "-3"},
                                                        {"Priority", "-1"},
                                                        {"GrpTRES", "cpu=-7"},
                                                        {"MaxWall", "tomorrow"},
                                                        {"PreemptMode", "EAT"},
                                                        {"UsageFactor", "-1"},
                                                        {"Preempt", "a b"},
                                                        {"UsageFactor", "1.2345"}}) {
    PolicyObject qos = With(PolicyKind::kQos, {{"Priority", "5"}});
    const PolicyObject before = qos;
    const absl::Status status = Assign(qos, {key, value});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << key << "=" << value;
    EXPECT_THAT(std::string(status.message()), HasSubstr(key + ": "));
    EXPECT_EQ(qos, before);
  }
  PolicyObject qos = MakePolicyObject(PolicyKind::kQos, "x");
  EXPECT_THAT(std::string(Assign(qos, {"Colour", "red"}).message()),
              HasSubstr("Colour: no such key of qos; there are Priority"));
}

TEST(PolicyText, AChangeTellsWhatWas) {
  const PolicyObject before = With(PolicyKind::kQos, {{"MaxJobs", "2"}, {"GrpTRES", "cpu=8"}});
  const PolicyObject after = With(PolicyKind::kQos, {{"MaxJobs", "4"}, {"Priority", "1"}});
  EXPECT_EQ(DescribeChange(before, after),
            "Priority=1, GrpTRES= (was cpu=8), MaxJobsPerUser=4 (was 2)");
}

Time Hours(int hours) {
  return Time(std::chrono::hours(hours));
}

TEST(Reservation, ARecurringOneComesBackEveryPeriod) {
  Reservation weekly;
  weekly.start = Hours(100);
  weekly.end = Hours(104);
  weekly.flags = kWeeklyRepeat;
  EXPECT_EQ(WindowAt(weekly, Hours(0)), (Window{Hours(100), Hours(104)}));
  EXPECT_EQ(WindowAt(weekly, Hours(103)), (Window{Hours(100), Hours(104)}));
  EXPECT_EQ(WindowAt(weekly, Hours(104)), (Window{Hours(268), Hours(272)}));
  EXPECT_EQ(WindowAt(weekly, Hours(272)), (Window{Hours(436), Hours(440)}));
  weekly.flags = 0;
  EXPECT_EQ(WindowAt(weekly, Hours(104)), std::nullopt);
}

}  // namespace
}  // namespace muster
