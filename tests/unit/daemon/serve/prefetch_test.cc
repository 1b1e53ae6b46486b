#include "daemon/serve/prefetch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "scheduler/model/job/container.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::daemon {
namespace {

using core::testing::Tasks;
using core::testing::World;

const std::string kImage = "app@sha256:" + std::string(64, 'a');

// Two nodes, full of a job of an hour.
class PrefetchTest : public ::testing::Test {
 protected:
  PrefetchTest() {
    for (const char* name : {"n1", "n2"}) {
      Registration registration = World::RegistrationOf(name, {});
      registration.features = {"containers", "staging"};
      world_.Take(RegisterAgent{registration});
    }
    Submit("", 2, 60);
    world_.Schedule();
  }
  JobId Submit(const std::string& image, std::uint32_t nodes, int minutes = 10,
               JobKind kind = JobKind::kBatch) {
    JobSpec spec = world_.Spec(Tasks(nodes));
    spec.request.min_nodes = spec.request.max_nodes = nodes;
    spec.request.exclusive = true;
    spec.container.image = image;
    spec.kind = kind;
    spec.time_limit = std::chrono::minutes(minutes);
    return world_.Submit(spec);
  }
  JobId SubmitWithData(const std::vector<std::string>& sources, const std::string& image = "") {
    JobSpec spec = world_.Spec(Tasks(2));
    spec.request.min_nodes = spec.request.max_nodes = 2;
    spec.request.exclusive = true;
    spec.node_data = sources;
    spec.container.image = image;
    spec.time_limit = std::chrono::minutes(10);
    return world_.Submit(spec);
  }
  // "JOB:NODE …".
  std::string Wanted(std::size_t most = 100) {
    std::string text;
    for (const WantedAhead& wanted :
         ToFetchAhead(world_.state, world_.MakePlanNow(), told_, most)) {
      absl::StrAppend(&text, text.empty() ? "" : " ", wanted.job.value(), ":", wanted.name);
    }
    return text;
  }

  World world_;
  ToldAhead told_;
};

TEST_F(PrefetchTest, NodesThatAreKeptForAJobFetchItsImageOnce) {
  const JobId job = Submit(kImage, 2);
  ASSERT_EQ(job, JobId(2));
  EXPECT_EQ(Wanted(), "2:n1 2:n2");
  EXPECT_EQ(Wanted(1), "2:n1");
  told_.insert({NodeId(1), MarkOfImage(1000, kImage)});
  EXPECT_EQ(Wanted(), "2:n2");
}

TEST_F(PrefetchTest, ANodeFetchesForTheFirstThatComesThere) {
  Submit(kImage, 2);
  Submit("other@sha256:" + std::string(64, 'b'), 2);
  EXPECT_EQ(Wanted(), "2:n1 2:n2");
  told_.insert({NodeId(1), MarkOfImage(1000, kImage)});
  EXPECT_EQ(Wanted(), "2:n2 3:n1");
}

TEST_F(PrefetchTest, NothingIsFetchedForJobsWithoutAnImageOrThatSomebodyWaitsFor) {
  Submit("", 2);
  Submit("bundle:/b", 2);
  Submit(kImage, 2, 10, JobKind::kRun);
  EXPECT_EQ(Wanted(), "");
}

TEST_F(PrefetchTest, NodesThatAreKeptForAJobMakeItsCopiesOfDataOnce) {
  SubmitWithData({"/data/a", "/data/b"});
  EXPECT_EQ(Wanted(), "2:n1 2:n2");
  const std::vector<WantedAhead> wanted =
      ToFetchAhead(world_.state, world_.MakePlanNow(), told_, 100);
  EXPECT_EQ(wanted[0].sources, (std::vector<std::string>{"/data/a", "/data/b"}));
  EXPECT_EQ(wanted[0].image, "");
  told_.insert({NodeId(1), wanted[0].mark});
  EXPECT_EQ(Wanted(), "2:n2");
}

TEST_F(PrefetchTest, AnotherSubmissionWithTheSameDataHasTheNodeLookWhetherTheyChanged) {
  SubmitWithData({"/data/a"});
  SubmitWithData({"/data/a"});
  told_.insert({NodeId(1), ToFetchAhead(world_.state, world_.MakePlanNow(), told_, 1)[0].mark});
  EXPECT_EQ(Wanted(), "2:n2 3:n1");
}

TEST_F(PrefetchTest, TheImageAndTheDataOfAJobAreFetchedSideBySide) {
  SubmitWithData({"/data/a"}, kImage);
  EXPECT_EQ(Wanted(), "2:n1 2:n1 2:n2 2:n2");
}

TEST_F(PrefetchTest, ANodeThatIsAwayIsNotTold) {
  Submit(kImage, 2);
  world_.Take(LoseAgent{NodeId(2)});
  told_.clear();
  const Plan plan = [&] {
    Plan made;
    made.reservations.push_back(
        PlannedReservation{JobId(2), world_.now, {{NodeId(1), 1}, {NodeId(2), 1}}});
    return made;
  }();
  const std::vector<WantedAhead> wanted = ToFetchAhead(world_.state, plan, told_, 100);
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(wanted[0].name, "n1");
  EXPECT_EQ(wanted[0].image, kImage);
  EXPECT_EQ(wanted[0].user.uid, 1000U);
  EXPECT_EQ(wanted[0].program, JobId(2));
}

}  // namespace
}  // namespace muster::daemon
