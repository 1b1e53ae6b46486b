#include "cli/cluster/policy_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Time kNow{std::chrono::hours(24 * 365 * 60)};

absl::StatusOr<PolicyWords> Parse(PolicyKind kind, const std::vector<std::string>& words) {
  return ParsePolicyWords(kind, words, kNow, absl::UTCTimeZone());
}
std::string Error(PolicyKind kind, const std::vector<std::string>& words) {
  const auto parsed = Parse(kind, words);
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(parsed.status().message());
}

TEST(PolicyWords, AnActionANameAndKeysHoweverWritten) {
  const PolicyWords words =
      *Parse(PolicyKind::kQos, {"add", "high", "priority=100", "MaxTRESPerUser=cpu=64"});
  EXPECT_EQ(words.action, PolicyAction::kAdd);
  EXPECT_THAT(words.names, ElementsAre("high"));
  EXPECT_THAT(words.assignments,
              ElementsAre(Assignment{"Priority", "100"}, Assignment{"MaxTRESPerUser", "cpu=64"}));
  EXPECT_EQ(Parse(PolicyKind::kQos, {})->action, PolicyAction::kList);
}

TEST(PolicyWords, AUserInAnAccountIsAnAssociation) {
  const PolicyWords words =
      *Parse(PolicyKind::kAccount, {"set", "physics", "user=ada", "MaxJobs=4"});
  EXPECT_EQ(words.kind, PolicyKind::kAssociation);
  EXPECT_THAT(words.names, ElementsAre("physics/ada"));
  EXPECT_THAT(words.assignments, ElementsAre(Assignment{"MaxJobs", "4"}));
}

TEST(PolicyWords, ListsGrowAndShrink) {
  EXPECT_THAT(
      Parse(PolicyKind::kPartition, {"set", "p", "AllowAccounts+=a", "DenyQos-=b"})->assignments,
      ElementsAre(Assignment{"AllowAccounts", "+a"}, Assignment{"DenyQos", "-b"}));
}

TEST(PolicyWords, TimesAsPeopleWriteThemBecomeUtc) {
  EXPECT_THAT(Parse(PolicyKind::kReservation, {"add", "r", "StartTime=now+1hour"})->assignments,
              ElementsAre(Assignment{"StartTime", "2029-12-17T01:00:00Z"}));
  EXPECT_THAT(Error(PolicyKind::kReservation, {"add", "r", "StartTime=later"}),
              HasSubstr("StartTime: "));
}

TEST(PolicyWords, NonsenseIsBadUsage) {
  EXPECT_THAT(Error(PolicyKind::kQos, {"eat", "x"}), HasSubstr("\"eat\" is not one of list"));
  EXPECT_THAT(Error(PolicyKind::kQos, {"add"}), HasSubstr("add: name one qos"));
  EXPECT_THAT(Error(PolicyKind::kQos, {"add", "a", "b"}), HasSubstr("\"b\" is not KEY=VALUE"));
  EXPECT_THAT(Error(PolicyKind::kQos, {"set", "a"}), HasSubstr("say what to change"));
  EXPECT_THAT(Error(PolicyKind::kQos, {"add", "a", "colour=red"}),
              HasSubstr("\"colour\" is not a key of qos: there are Priority"));
  EXPECT_THAT(Error(PolicyKind::kQos, {"delete", "a", "Priority=1"}), HasSubstr("takes no KEY"));
  EXPECT_THAT(Error(PolicyKind::kAccount, {"add", "a", "user="}), HasSubstr("is not a name"));
}

}  // namespace
}  // namespace muster::cli
