#include "scheduler/core/plan/cycle/tier_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/scheduler/core/playing.h"

namespace muster::core {
namespace {

using testing::After;
using testing::Playing;
using testing::Tasks;

ResourceRequest Nodes(std::uint32_t nodes) {
  ResourceRequest request = Tasks(nodes, 4);
  request.min_nodes = nodes;
  return request;
}

Playing Prompt(std::size_t nodes) {
  Playing run(std::vector<testing::Shape>(nodes, {.cores = 4}));
  run.config.priority.order = QueueRule::kPrompt;
  return run;
}

TEST(TierPlaces, AJobThatIsHeldOrFollowsALeaderHasNone) {
  WaitingJob job;
  job.id = job.submission = JobId(7);
  EXPECT_TRUE(MayHavePlace(job));
  job.het_size = 2;
  EXPECT_TRUE(MayHavePlace(job)) << "the leader";
  job.submission = JobId(6);
  EXPECT_FALSE(MayHavePlace(job));
  job = WaitingJob();
  job.held = true;
  EXPECT_FALSE(MayHavePlace(job));
}

TEST(TierPlaces, WhenAllPlacesAreLostAllPromisesAreKeptWhateverTheSlack) {
  for (std::int64_t slack = 0; slack <= 2000; slack += 250) {
    Playing run = Prompt(2);
    run.config.prompt.slack = std::chrono::seconds(slack);
    run.config.prompt.backlog_permille = 0;
    run.Submit(Nodes(1), 700);
    run.Submit(Nodes(1), 100);
    run.RunCycle();
    run.Submit(Nodes(2), 900);
    run.RunCycle();
    run.Submit(Nodes(1), 500);
    run.Submit(Nodes(1), 400);
    run.RunCycle();
    run.ForgetPlaces();
    run.RunCycle();
    run.RunDry();
    for (const auto& [job, record] : run.records()) {
      EXPECT_TRUE(record.by == kNoTime || record.started <= record.by) << job.value();
    }
  }
}

}  // namespace
}  // namespace muster::core
