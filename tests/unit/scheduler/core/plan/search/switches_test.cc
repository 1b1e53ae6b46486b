// Jobs that ask for few leaf switches: they wait for them, tell how long, and take any in the end.
#include <gtest/gtest.h>

#include "scheduler/core/explain/counterfactual.h"
#include "scheduler/core/explain/watchdog.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::MakeNetwork;
using testing::World;

// Four nodes of four cores below two leaf switches; n2 and n4 have a job that ends at 4600.
class SwitchesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.config.network = MakeNetwork(4, 2);
    for (const char* name : {"n1", "n2", "n3", "n4"}) {
      world_.AddNode(name);
    }
    for (const char* busy : {"n2", "n4"}) {
      ResourceRequest request = testing::Tasks(4);
      request.nodelist = {busy};
      JobSpec filler = world_.Spec(request);
      filler.time_limit = std::chrono::hours(1);
      fillers_.push_back(world_.Submit(filler));
    }
    world_.Schedule();
  }

  [[nodiscard]] JobSpec Asks(std::uint32_t switches, Duration wait) const {
    ResourceRequest request = testing::Tasks(8);
    request.min_nodes = request.max_nodes = 2;
    request.switches = switches;
    request.switches_wait = wait;
    JobSpec spec = world_.Spec(request);
    spec.time_limit = std::chrono::minutes(10);
    return spec;
  }

  [[nodiscard]] std::vector<std::string> NodesOf(JobId id) const {
    std::vector<std::string> names;
    const Job& job = *world_.state.FindJob(id);
    if (job.attempt.has_value()) {
      for (const NodeAllocation& part : job.attempt->allocation.nodes) {
        names.push_back(part.name);
      }
    }
    return names;
  }

  [[nodiscard]] std::shared_ptr<const Snapshot> Picture() const {
    return BuildSnapshot(world_.state, world_.now, nullptr, world_.config.network);
  }

  World world_;
  std::vector<JobId> fillers_;
};

using Names = std::vector<std::string>;

TEST_F(SwitchesTest, WithoutALimitTheJobTakesTheTwoSwitchesThatThereAre) {
  const JobId job = world_.Submit(Asks(0, Duration(0)));
  world_.Schedule();
  EXPECT_EQ(NodesOf(job), Names({"n1", "n3"}));
}

TEST_F(SwitchesTest, AsManyAsItAsksForAreTakenAtOnce) {
  const JobId job = world_.Submit(Asks(2, std::chrono::minutes(5)));
  world_.Schedule();
  EXPECT_EQ(NodesOf(job), Names({"n1", "n3"}));
}

TEST_F(SwitchesTest, ItWaitsAndSaysForWhatAndHowLong) {
  const JobId job = world_.Submit(Asks(1, std::chrono::minutes(5)));
  world_.Schedule();
  EXPECT_EQ(NodesOf(job), Names());
  const Reason reason = world_.ReasonFor(job);
  EXPECT_EQ(reason.kind, ReasonKind::kSwitches);
  EXPECT_EQ(ToSentence(reason),
            "on at most 1 leaf switch there is room for 4 of its 8 tasks now; from 1970-01-01 "
            "00:21:40 UTC on it takes what there is");
  const Plan plan = world_.MakePlanNow();
  EXPECT_EQ(plan.wake, At(1300));
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].start, At(1300)) << "it takes what there is by then";
}

TEST_F(SwitchesTest, ItTakesWhatThereIsOnceItHasWaited) {
  const JobId job = world_.Submit(Asks(1, std::chrono::minutes(5)));
  world_.now = At(1299);
  world_.Schedule();
  EXPECT_EQ(NodesOf(job), Names());
  world_.now = At(1300);
  world_.Schedule();
  EXPECT_EQ(NodesOf(job), Names({"n1", "n3"}));
}

TEST_F(SwitchesTest, ItStartsBelowOneSwitchAsSoonAsOneIsFree) {
  const JobId job = world_.Submit(Asks(1, std::chrono::hours(1)));
  world_.Schedule();
  const NodeId node = world_.state.FindNode("n4")->id;
  const JobId on_it = world_.state.JobsOn(node).front();
  world_.TellStarted(node, on_it);
  world_.TellEnded(node, on_it, 2);
  world_.Schedule();
  EXPECT_EQ(NodesOf(job), Names({"n3", "n4"}));
}

TEST_F(SwitchesTest, ItsReservationIsBelowOneSwitchWhereThatComesFirst) {
  world_.Submit(Asks(1, std::chrono::hours(24)));
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].start, At(4600));
  ASSERT_EQ(plan.reservations[0].nodes.size(), 2U);
  EXPECT_EQ(plan.reservations[0].nodes[0].node, world_.state.FindNode("n1")->id);
  EXPECT_EQ(plan.reservations[0].nodes[1].node, world_.state.FindNode("n2")->id);
}

TEST_F(SwitchesTest, ThePatienceBeginsWithBegin) {
  JobSpec spec = Asks(1, std::chrono::minutes(5));
  spec.begin = At(2000);
  const JobId job = world_.Submit(spec);
  world_.now = At(2100);
  EXPECT_EQ(world_.ReasonFor(job).until, At(2300));
}

TEST_F(SwitchesTest, AJobThatLacksMoreThanASwitchSaysThat) {
  world_.Submit(Asks(0, Duration(0)));
  const JobId second = world_.Submit(Asks(1, std::chrono::minutes(5)));
  world_.Schedule();
  EXPECT_EQ(world_.ReasonFor(second).kind, ReasonKind::kResources);
}

TEST_F(SwitchesTest, MoreSwitchesAreSuggested) {
  const JobId job = world_.Submit(Asks(1, std::chrono::hours(2)));
  std::vector<std::string> changes;
  for (const Suggestion& suggestion : SuggestChanges(*Picture(), job, world_.config)) {
    changes.push_back(suggestion.change);
  }
  EXPECT_NE(std::find(changes.begin(), changes.end(), "no --switches"), changes.end());
}

TEST_F(SwitchesTest, NobodyIsOverlookedWhoWaitsForASwitch) {
  world_.Submit(Asks(1, std::chrono::minutes(5)));
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 0U);
  EXPECT_EQ(FindOverlooked(*Picture(), plan, world_.config).size(), 0U);
}

TEST_F(SwitchesTest, WithoutANetworkTheLimitMeansNothing) {
  world_.config.network = nullptr;
  const JobId job = world_.Submit(Asks(1, std::chrono::hours(1)));
  world_.Schedule();
  EXPECT_EQ(NodesOf(job), Names({"n1", "n3"}));
}

TEST_F(SwitchesTest, AJobForWhichThereIsNoSuchSwitchTakesMoreInTheEnd) {
  ResourceRequest request = testing::Tasks(3);
  request.min_nodes = request.max_nodes = 3;
  request.switches = 1;
  request.switches_wait = std::chrono::minutes(1);
  JobSpec spec = world_.Spec(request);
  spec.time_limit = std::chrono::minutes(1);
  for (const JobId filler : fillers_) {
    world_.Take(CancelJob{filler, std::nullopt, world_.ada});
  }
  const JobId job = world_.Submit(spec);
  EXPECT_NE(world_.ReasonFor(job).verdict, ReasonClass::kNever);
  world_.now = At(10'000);
  for (const char* name : {"n2", "n4"}) {
    const NodeId node = world_.state.FindNode(name)->id;
    for (const JobId id : world_.state.JobsOn(node)) {
      world_.TellStarted(node, id);
      world_.TellEnded(node, id, 2);
    }
  }
  world_.Schedule();
  EXPECT_EQ(NodesOf(job).size(), 3U);
}

}  // namespace
}  // namespace muster::core
