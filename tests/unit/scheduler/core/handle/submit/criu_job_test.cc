#include "scheduler/core/handle/submit/criu_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "scheduler/core/handle/submit/validate.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;

JobSpec ByCriu() {
  JobSpec spec;
  spec.checkpoint_with = CheckpointMeans::kCriu;
  return spec;
}

std::string FeaturesOf(const JobSpec& spec) {
  return ToText(spec.request.constraint);
}

FeatureExpression Either() {
  return {{{FeatureOp::kHas, "a"}, {FeatureOp::kHas, "b"}, {FeatureOp::kOr, ""}}};
}

TEST(CriuJob, ItNeedsANodeWithTheFeatureBesideWhatItAskedFor) {
  JobSpec spec = ByCriu();
  EXPECT_EQ(FeaturesOf(*Normalise(spec, SchedulerConfig())), "criu");
  spec.request.constraint.every = Either();
  EXPECT_EQ(FeaturesOf(*Normalise(spec, SchedulerConfig())), "(a|b)&criu");
  spec.alternatives.resize(1);
  spec.alternatives[0].request.constraint.every = Either();
  const absl::StatusOr<JobSpec> taken = Normalise(spec, SchedulerConfig());
  ASSERT_TRUE(taken.ok()) << taken.status();
  for (const Alternative& alternative : taken->alternatives) {
    EXPECT_EQ(ToText(alternative.request.constraint), "(a|b)&criu");
  }
}

TEST(CriuJob, CheckedAgainItAsksForNothingMore) {
  JobSpec spec = ByCriu();
  for (const FeatureExpression& every : {FeatureExpression(), Either()}) {
    spec.request.constraint.every = every;
    const JobSpec once = *Normalise(spec, SchedulerConfig());
    EXPECT_EQ(*Normalise(once, SchedulerConfig()), once);
  }
}

TEST(CriuJob, OneThatItsProgramSavesAsksForNothing) {
  EXPECT_EQ(FeaturesOf(*Normalise(JobSpec(), SchedulerConfig())), "");
}

TEST(CriuJob, SeveralTasksShareTheOneNode) {
  JobSpec spec = ByCriu();
  spec.request.tasks = 4;
  const absl::StatusOr<JobSpec> taken = Normalise(spec, SchedulerConfig());
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->request.max_nodes, 1U);
}

TEST(CriuJob, WhatCannotBeSavedIsRefusedByItsOption) {
  const auto refused = [](const std::function<void(JobSpec&)>& change) {
    JobSpec spec = ByCriu();
    change(spec);
    const absl::StatusOr<JobSpec> taken = Normalise(spec, SchedulerConfig());
    return taken.ok() ? "taken" : std::string(taken.status().message());
  };
  EXPECT_THAT(refused([](JobSpec& spec) { spec.request.gpus.count = 1; }),
              HasSubstr("--checkpoint-with=criu: --gpus: "));
  EXPECT_THAT(refused([](JobSpec& spec) { spec.request.gpus_per_node.count = 1; }),
              HasSubstr("--checkpoint-with=criu: --gpus: "));
  EXPECT_THAT(refused([](JobSpec& spec) { spec.request.min_nodes = 2; }),
              HasSubstr("--checkpoint-with=criu: --nodes: "));
  EXPECT_THAT(refused([](JobSpec& spec) { spec.kind = JobKind::kRun; }),
              HasSubstr("--checkpoint-with=criu: run: "));
  EXPECT_THAT(refused([](JobSpec& spec) {
                spec.elastic = true;
                spec.request.min_nodes = 1;
                spec.request.max_nodes = 2;
              }),
              HasSubstr("--checkpoint-with=criu: --elastic: "));
  EXPECT_THAT(refused([](JobSpec& spec) { spec.progress_timeout = std::chrono::minutes(1); }),
              HasSubstr("--checkpoint-with=criu: --progress-timeout: "));
}

}  // namespace
}  // namespace muster::core
