#include "scheduler/core/handle/submit/container_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/core/handle/submit/required_feature.h"
#include "scheduler/core/handle/submit/validate.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;

JobSpec InContainer() {
  JobSpec spec;
  spec.container.image = "alpine:3";
  return spec;
}

TEST(ContainerJob, ItNeedsANodeWithTheFeatureBesideWhatItAskedFor) {
  JobSpec spec = InContainer();
  EXPECT_EQ(ToText(Normalise(spec, SchedulerConfig())->request.constraint), kContainerFeature);
  spec.request.constraint.every.postfix = {{FeatureOp::kHas, "big"}};
  const JobSpec once = *Normalise(spec, SchedulerConfig());
  EXPECT_EQ(ToText(once.request.constraint), "big&containers");
  EXPECT_EQ(*Normalise(once, SchedulerConfig()), once);
  EXPECT_EQ(ToText(Normalise(JobSpec(), SchedulerConfig())->request.constraint), "");
}

TEST(ContainerJob, CriuSavesNoContainer) {
  JobSpec spec = InContainer();
  spec.checkpoint_with = CheckpointMeans::kCriu;
  EXPECT_THAT(std::string(Normalise(spec, SchedulerConfig()).status().message()),
              HasSubstr("--checkpoint-with=criu: "));
}

TEST(ContainerJob, WhatTheCommandLineWouldNotSendIsRefusedToo) {
  JobSpec spec = InContainer();
  spec.container.mounts = {{"relative", "/data", false}};
  EXPECT_THAT(std::string(FillContainer(spec).message()), HasSubstr("--container-mounts: "));
}

}  // namespace
}  // namespace muster::core
