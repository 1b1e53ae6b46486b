#include "scheduler/core/handle/submit/node_data_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/core/handle/submit/required_feature.h"
#include "scheduler/core/handle/submit/validate.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;

TEST(NodeDataJob, ItNeedsANodeThatMakesCopies) {
  JobSpec spec;
  spec.node_data = {"/archive/imagenet", "s3:bucket/model"};
  spec.alternatives = {Alternative{}, Alternative{}};
  const JobSpec once = *Normalise(spec, SchedulerConfig());
  EXPECT_EQ(ToText(once.request.constraint), kStagingFeature);
  EXPECT_EQ(ToText(once.alternatives.back().request.constraint), kStagingFeature);
  EXPECT_EQ(*Normalise(once, SchedulerConfig()), once);
  EXPECT_EQ(ToText(Normalise(JobSpec(), SchedulerConfig())->request.constraint), "");
}

TEST(NodeDataJob, WhatTheCommandLineWouldNotSendIsRefusedToo) {
  JobSpec spec;
  spec.node_data = {"/a/x", "s3:b/x"};
  EXPECT_THAT(std::string(Normalise(spec, SchedulerConfig()).status().message()),
              HasSubstr("--stage-in-node: two sources are called \"x\""));
}

}  // namespace
}  // namespace muster::core
