#include "scheduler/core/plan/search/place_search.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/scheduler/core/plan/cycle/one_cycle.h"

namespace muster::core {
namespace {

using testing::OneCycle;
using testing::WholeNodes;

// Two nodes of four cores.
class PlaceSearchTest : public ::testing::Test {
 protected:
  PlaceSearchTest() {
    world_.AddNode("n1");
    world_.AddNode("n2");
  }
  JobId Submit(std::uint32_t first, std::uint32_t second) {
    SubmitJob submit{"group", WholeNodes(world_, first), testing::Script()};
    submit.components.push_back(Component{WholeNodes(world_, second), Program()});
    return world_.Take(submit).job;
  }
  static std::vector<GroupMember> MembersOf(OneCycle& cycle, PlaceSearch& search, JobId job) {
    std::vector<GroupMember> members;
    for (const WaitingJob* component : search.ComponentsOf(cycle.Waiting(job))) {
      members.push_back({component->id, cycle.OptionsOf(component->id)});
    }
    return members;
  }
  testing::World world_;
};

TEST_F(PlaceSearchTest, AJobAloneIsItsOnlyComponent) {
  const JobId job = world_.Submit(WholeNodes(world_, 1));
  OneCycle cycle(world_);
  PlaceSearch search(cycle.snapshot(), cycle.state.availability, cycle.state.nodes);
  const std::vector<GroupMember> members = MembersOf(cycle, search, job);
  ASSERT_EQ(members.size(), 1U);
  const auto place = search.Earliest(cycle.Waiting(job), members, kNoTime);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->start(), world_.now);
  EXPECT_FALSE(search.Earliest(cycle.Waiting(job), members, world_.now).has_value())
      << "none before that";
}

TEST_F(PlaceSearchTest, AllComponentsBeginTogetherOnceTheyFit) {
  world_.Submit(WholeNodes(world_, 1));
  world_.Schedule();
  const JobId leader = Submit(1, 1);
  OneCycle cycle(world_);
  PlaceSearch search(cycle.snapshot(), cycle.state.availability, cycle.state.nodes);
  const std::vector<GroupMember> members = MembersOf(cycle, search, leader);
  ASSERT_EQ(members.size(), 2U);
  EXPECT_FALSE(search.FindNow(members).has_value());
  const auto place = search.Earliest(cycle.Waiting(leader), members, kNoTime);
  ASSERT_TRUE(place.has_value());
  ASSERT_EQ(place->parts.size(), 2U);
  EXPECT_EQ(place->parts[0].opening.start, world_.now + std::chrono::minutes(1));
  EXPECT_EQ(place->parts[1].opening.start, place->start());
  EXPECT_NE(place->parts[0].opening.shares[0].node, place->parts[1].opening.shares[0].node);
}

TEST_F(PlaceSearchTest, ThePlanBeforeIsFoundAgainWhereAllOfItIsFree) {
  world_.Submit(WholeNodes(world_, 1));
  world_.Schedule();
  const JobId leader = Submit(1, 1);
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.reservations.size(), 2U);
  for (const bool taken : {false, true}) {
    OneCycle cycle(world_, &plan);
    PlaceSearch search(cycle.snapshot(), cycle.state.availability, cycle.state.nodes);
    const std::vector<GroupMember> members = MembersOf(cycle, search, leader);
    const Time start = plan.reservations[0].start;
    if (taken) {
      const StartOption& option = *members[1].options[0];
      cycle.state.availability.Take(option.need,
                                    *cycle.state.availability.FindAt(option.need, start));
    }
    EXPECT_EQ(search.Again(members, start).has_value(), !taken);
  }
}

}  // namespace
}  // namespace muster::core
