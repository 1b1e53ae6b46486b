#include "cli/run/joined_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// A batch job on two nodes; step 1 has two ranks on each.
JobDetail Job() {
  JobDetail job;
  job.job.label = "7";
  job.job.state = "RUNNING";
  job.batch = true;
  AttemptView attempt;
  attempt.nodes = {"n1", "n2"};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    RankView view;
    view.step = StepId(1);
    view.rank = rank;
    view.node = rank < 2 ? "n1" : "n2";
    attempt.ranks.push_back(view);
  }
  job.attempts.push_back(attempt);
  StepView step;
  step.step = StepId(1);
  step.state = "RUNNING";
  job.steps.push_back(step);
  return job;
}

std::string Refusal(const JobDetail& job, const WantedPlace& wanted) {
  return std::string(FindPlace(job, wanted).status().message());
}

TEST(JoinedPlace, WithoutAChoiceItIsTheScriptsNodeAndTheWholeJob) {
  EXPECT_EQ(*FindPlace(Job(), {}), (JoinedPlace{"n1", JoinedRank{}}));
  EXPECT_EQ(*FindPlace(Job(), {.node = "n2"}), (JoinedPlace{"n2", JoinedRank{}}));
  EXPECT_EQ(*FindPlace(Job(), {.step = StepId()}), (JoinedPlace{"n1", JoinedRank{}}));
}

TEST(JoinedPlace, ARankIsEnteredWhereItRuns) {
  EXPECT_EQ(*FindPlace(Job(), {.rank = 3}), (JoinedPlace{"n2", JoinedRank{StepId(1), 3}}));
  EXPECT_EQ(*FindPlace(Job(), {.step = StepId(1)}), (JoinedPlace{"n1", JoinedRank{StepId(1), 0}}));
  EXPECT_EQ(*FindPlace(Job(), {.step = StepId(1), .node = "n2"}),
            (JoinedPlace{"n2", JoinedRank{StepId(1), 2}}));
  JobDetail run = Job();
  run.batch = false;
  run.steps.clear();
  EXPECT_EQ(*FindPlace(run, {.rank = 1}), (JoinedPlace{"n1", JoinedRank{StepId(1), 1}}));
}

TEST(JoinedPlace, WhatIsNotThereIsRefusedInALine) {
  JobDetail job = Job();
  EXPECT_THAT(Refusal(job, {.rank = 9}), HasSubstr("job 7: step 1 has no rank 9 that is known"));
  EXPECT_THAT(Refusal(job, {.rank = 0, .node = "n2"}), HasSubstr("no rank 0 on n2"));
  EXPECT_THAT(Refusal(job, {.node = "n9"}),
              HasSubstr("job 7: --node: \"n9\" is none of its nodes; it has n1, n2"));
  job.steps.push_back(job.steps.front());
  job.steps.back().step = StepId(2);
  EXPECT_THAT(Refusal(job, {.rank = 0}), HasSubstr("--rank: of which step? Name 7.1 or 7.2"));
  job.steps.clear();
  EXPECT_THAT(Refusal(job, {.rank = 0}), HasSubstr("no step of it runs: leave --rank out"));
  job.attempts.clear();
  job.job.state = "PENDING";
  EXPECT_EQ(Refusal(job, {}), "job 7: is PENDING; exec needs it running");
}

}  // namespace
}  // namespace muster::cli
