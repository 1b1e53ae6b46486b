#include "scheduler/core/handle/policy_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/model/policy/policy_text.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::PolicyWorld;

TEST(PolicyHandlers, AnObjectIsAddedChangedAndDeletedWithItsHistory) {
  PolicyWorld world;
  world.Add(PolicyKind::kQos, "high", {{"Priority", "100"}});
  world.Set(PolicyKind::kQos, "high", {{"MaxTRESPerUser", "cpu=64"}, {"Priority", "50"}});
  EXPECT_EQ(FindQos(world.state.policy().site(), "high")->priority, 50U);
  world.Delete(PolicyKind::kQos, "high");
  EXPECT_FALSE(world.state.policy().active());
  EXPECT_EQ(world.History(),
            "added Priority=100; Priority=50 (was 100), MaxTRESPerUser=cpu=64; deleted");
}

TEST(PolicyHandlers, ACoordinatorChangesWhoBelongsToTheAccountsAndWithWhichLimits) {
  PolicyWorld world;
  world.Add(PolicyKind::kAccount, "physics", {});
  world.Add(PolicyKind::kAccount, "theory", {{"Parent", "physics"}});
  world.Add(PolicyKind::kAccount, "chemistry", {});
  world.Add(PolicyKind::kQos, "high", {});
  const Actor leads(world.ada, false, {"physics"});
  const auto code = [&](PolicyVerb verb, PolicyKind kind, const std::string& name,
                        std::vector<Assignment> said = {}) {
    return world.Take(ChangePolicy{verb, kind, name, std::move(said), leads}).status.code();
  };
  using Kind = PolicyKind;
  EXPECT_EQ(code(PolicyVerb::kAdd, Kind::kAssociation, "theory/bob", {{"MaxJobs", "4"}}),
            absl::StatusCode::kOk);
  EXPECT_EQ(code(PolicyVerb::kSet, Kind::kAssociation, "theory/bob", {{"Fairshare", "7"}}),
            absl::StatusCode::kOk);
  EXPECT_EQ(FindAssociation(world.state.policy().site(), "theory", "bob")->shares, 7U);
  constexpr absl::StatusCode kDenied = absl::StatusCode::kPermissionDenied;
  EXPECT_EQ(code(PolicyVerb::kAdd, Kind::kAssociation, "chemistry/bob"), kDenied);
  EXPECT_EQ(code(PolicyVerb::kSet, Kind::kAccount, "physics", {{"GrpJobs", "9"}}), kDenied);
  EXPECT_EQ(code(PolicyVerb::kSet, Kind::kQos, "high", {{"Priority", "9"}}), kDenied);
  EXPECT_EQ(code(PolicyVerb::kSet, Kind::kAssociation, "theory/bob", {{"q_o_s", "high"}}), kDenied);
  EXPECT_EQ(code(PolicyVerb::kSet, Kind::kAssociation, "theory/bob", {{"RawUsage", "0"}}), kDenied);
  EXPECT_EQ(code(PolicyVerb::kDelete, Kind::kAssociation, "theory/bob"), absl::StatusCode::kOk);
  EXPECT_EQ(
      world.Take(ChangePolicy{PolicyVerb::kAdd, Kind::kAssociation, "theory/eve", {}, world.bob})
          .status.code(),
      kDenied);
  EXPECT_EQ(world
                .Take(ChangePolicy{PolicyVerb::kSet,
                                   Kind::kQos,
                                   "high",
                                   {{"Priority", "9"}},
                                   Actor(world.bob, true, {})})
                .status.code(),
            absl::StatusCode::kOk);
}

TEST(PolicyHandlers, WhatChangesNothingMakesNoEvent) {
  PolicyWorld world;
  world.Add(PolicyKind::kQos, "high", {{"Priority", "100"}});
  const std::size_t before = world.events.size();
  world.Set(PolicyKind::kQos, "high", {{"priority", "100"}});
  EXPECT_EQ(world.events.size(), before);
}

TEST(PolicyHandlers, NonsenseIsRefusedInOneLineThatSaysWhere) {
  PolicyWorld world;
  world.Add(PolicyKind::kQos, "low", {});
  world.Add(PolicyKind::kAccount, "physics", {});
  world.Add(PolicyKind::kAccount, "theory", {{"Parent", "physics"}});
  world.Add(PolicyKind::kPartition, "all", {{"Default", "yes"}});
  using Kind = PolicyKind;
  const auto refused = [&](Kind kind, const std::string& name, std::vector<Assignment> said) {
    const SitePolicy before = world.state.policy().site();
    const PolicyVerb verb = Has(before, kind, name) ? PolicyVerb::kSet : PolicyVerb::kAdd;
    const Transition transition =
        world.Take(ChangePolicy{verb, kind, name, std::move(said), world.root});
    EXPECT_FALSE(transition.status.ok());
    EXPECT_EQ(world.state.policy().site(), before);
    return std::string(transition.status.message());
  };
  EXPECT_EQ(refused(Kind::kQos, "high", {{"Preempt", "lwo"}}),
            "qos high: Preempt: there is no QOS lwo");
  EXPECT_EQ(refused(Kind::kAccount, "physics", {{"Parent", "theory"}}),
            "account physics: Parent: account physics would be above itself");
  EXPECT_EQ(refused(Kind::kAccount, "chem", {{"Parent", "nowhere"}}),
            "account chem: Parent: there is no account nowhere");
  EXPECT_THAT(refused(Kind::kPartition, "debug", {{"Default", "yes"}}),
              HasSubstr("Default: partition all is the default already"));
  EXPECT_THAT(refused(Kind::kPartition, "whole", {{"Nodes", "n[1-2]"}, {"Exclusive", "yes"}}),
              HasSubstr("Exclusive: contradicts partition all"));
  EXPECT_THAT(refused(Kind::kPartition, "debug", {{"MinNodes", "4"}, {"MaxNodes", "2"}}),
              HasSubstr("MinNodes: 4 is more than MaxNodes=2"));
  EXPECT_THAT(refused(Kind::kPartition, "debug", {{"DefaultTime", "2:00:00"}, {"MaxTime", "60"}}),
              HasSubstr("DefaultTime: 2:00:00 is more than MaxTime=1:00:00"));
  EXPECT_THAT(refused(Kind::kPartition, "debug", {{"AllowAccounts", "nobody"}}),
              HasSubstr("there is no account nobody"));
  EXPECT_THAT(refused(Kind::kQos, "low", {{"Preempt", "low"}}), HasSubstr("in a circle"));
  EXPECT_THAT(refused(Kind::kQos, "low", {{"GrpJobs", "-4"}}), HasSubstr("GrpJobs: \"-4\""));
  EXPECT_THAT(refused(Kind::kReservation, "r", {{"StartTime", "2030-01-01T00:00Z"}}),
              HasSubstr("EndTime: is not after StartTime"));
  EXPECT_THAT(refused(Kind::kAssociation, "nowhere/ada", {}),
              HasSubstr("there is no account nowhere"));
  EXPECT_THAT(refused(Kind::kQos, "a b", {}), HasSubstr("is not a name"));
}

TEST(PolicyHandlers, WhatIsNeededIsNotDeleted) {
  PolicyWorld world;
  world.Add(PolicyKind::kQos, "low", {});
  world.Add(PolicyKind::kQos, "high", {{"Preempt", "low"}});
  world.Add(PolicyKind::kAccount, "physics", {});
  world.Add(PolicyKind::kAssociation, "physics/ada", {});
  EXPECT_THAT(world.DeleteRefused(PolicyKind::kQos, "low"),
              HasSubstr("qos low: is needed: qos high: Preempt: there is no QOS low"));
  EXPECT_THAT(world.DeleteRefused(PolicyKind::kAccount, "physics"), HasSubstr("is needed"));
  JobSpec spec = world.Spec(testing::Tasks(1));
  spec.qos = "high";
  world.Submit(spec);
  EXPECT_THAT(world.DeleteRefused(PolicyKind::kQos, "high"),
              HasSubstr("qos high: 1 job names it; cancel"));
  EXPECT_THAT(world.DeleteRefused(PolicyKind::kQos, "none"), HasSubstr("there is none"));
}

PolicyObject Object(PolicyKind kind, const std::string& name,
                    const std::vector<Assignment>& said = {}) {
  PolicyObject object = MakePolicyObject(kind, name);
  for (const Assignment& line : said) {
    EXPECT_TRUE(Assign(object, line).ok()) << line.key;
  }
  return object;
}

TEST(PolicyHandlers, AnotherHalfLifeInTheConfigurationIsAnEventOfItsOwn) {
  PolicyWorld world;
  world.config.priority.half_life = std::chrono::hours(5);
  const Transition transition = world.Take(ConfigurePolicy{{}, world.ada, "m.toml"});
  ASSERT_EQ(transition.events.size(), 1U);
  EXPECT_EQ(std::get<HalfLifeSet>(transition.events[0]).half_life, std::chrono::hours(5));
  EXPECT_EQ(world.state.usage().half_life(), std::chrono::hours(5));
  EXPECT_TRUE(world.Take(ConfigurePolicy{{}, world.ada, "m.toml"}).events.empty());
}

TEST(PolicyHandlers, TheConfigurationSetsWhatItNamesAndDropsWhatItNamedBefore) {
  PolicyWorld world;
  world.Add(PolicyKind::kQos, "live", {});
  const PolicyObject high = Object(PolicyKind::kQos, "high", {{"Priority", "9"}});
  const PolicyObject low = Object(PolicyKind::kQos, "low");
  ASSERT_TRUE(world.Take(ConfigurePolicy{{high, low}, world.ada, "m.toml"}).status.ok());
  EXPECT_TRUE(world.Take(ConfigurePolicy{{high, low}, world.ada, "m.toml"}).events.empty());
  world.Set(PolicyKind::kQos, "high", {{"Priority", "7"}});
  ASSERT_TRUE(world.Take(ConfigurePolicy{{high}, world.ada, "m.toml"}).status.ok());
  const SitePolicy& site = world.state.policy().site();
  EXPECT_EQ(FindQos(site, "high")->priority, 9U);
  EXPECT_EQ(FindQos(site, "low"), nullptr);
  EXPECT_NE(FindQos(site, "live"), nullptr);
}

TEST(PolicyHandlers, AConfigurationWithOneMistakeChangesNothing) {
  PolicyWorld world;
  const Transition transition = world.Take(ConfigurePolicy{
      {Object(PolicyKind::kQos, "good"), Object(PolicyKind::kPartition, "p", {{"QoS", "bad"}})},
      world.ada,
      "m.toml"});
  EXPECT_EQ(std::string(transition.status.message()), "partition p: QoS: there is no QOS bad");
  EXPECT_FALSE(world.state.policy().active());
}

TEST(PolicyHandlers, AReservationByCountGetsNodesThatAreFreeOfJobsAndReservations) {
  PolicyWorld world;
  for (const char* name : {"n1", "n2", "n3"}) {
    world.AddNode(name);
  }
  world.Submit(testing::Tasks(4));  // takes n1, without a time limit
  world.Schedule();
  const auto reserve = [&](const std::string& name, std::vector<Assignment> more) {
    std::vector<Assignment> said = {
        {"StartTime", "2030-01-01T00:00Z"}, {"Duration", "60"}, {"Users", "ada"}};
    said.insert(said.end(), more.begin(), more.end());
    return world.Take(
        ChangePolicy{PolicyVerb::kAdd, PolicyKind::kReservation, name, said, world.root});
  };
  ASSERT_TRUE(reserve("one", {{"NodeCnt", "1"}}).status.ok());
  EXPECT_EQ(FindReservation(world.state.policy().site(), "one")->nodes, "n2");
  EXPECT_THAT(std::string(reserve("two", {{"NodeCnt", "2"}}).status.message()),
              HasSubstr("NodeCnt: only 1 of 2 nodes are free"));
  EXPECT_THAT(std::string(reserve("two", {{"Nodes", "n2"}}).status.message()),
              HasSubstr("n2 is in another reservation"));
  EXPECT_THAT(std::string(reserve("two", {{"Nodes", "n1"}}).status.message()),
              HasSubstr("job 1 may still run on n1"));
  EXPECT_TRUE(reserve("two", {{"Nodes", "n[1-3]"}, {"Flags", "MAINT,IGNORE_JOBS"}}).status.ok());
}

}  // namespace
}  // namespace muster::core
