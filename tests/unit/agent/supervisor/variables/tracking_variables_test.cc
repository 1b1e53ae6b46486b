#include "agent/supervisor/variables/tracking_variables.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

SupervisorOrder TrackedOrder(std::vector<std::string> submitter) {
  SupervisorOrder order;
  order.report_socket = "/attempts/12.1/report";
  order.launch.cluster = "alps";
  order.launch.job = JobId(14);
  order.launch.submission = JobId(12);
  order.launch.array_index = 2;
  order.launch.spec.name = "tr\"ain";
  order.launch.program.environment = std::move(submitter);
  return order;
}

Variables VariablesOf(const SupervisorOrder& order) {
  Variables variables(order.launch.program.environment);
  SetTrackingVariables(order, &variables);
  return variables;
}

TEST(TrackingVariablesTest, NamesAndTagsFollowFromTheJob) {
  const Variables variables = VariablesOf(TrackedOrder({}));
  EXPECT_EQ(variables.Get("MUSTER_REPORT_SOCKET", ""), "/attempts/12.1/report");
  EXPECT_EQ(variables.Get("MUSTER_RUN_ID", ""), "alps-12_2");
  EXPECT_EQ(variables.Get("WANDB_NAME", ""), "tr\"ain-12_2");
  EXPECT_EQ(variables.Get("WANDB_RUN_GROUP", ""), "alps-12");
  EXPECT_EQ(variables.Get("WANDB_TAGS", ""), "muster,alps,job-12_2");
  EXPECT_EQ(variables.Get("MLFLOW_RUN_CONTEXT", ""),
            R"({"mlflow.runName":"tr\"ain-12_2","muster.cluster":"alps","muster.job":"12_2"})");
  EXPECT_FALSE(variables.Has("WANDB_RUN_ID")) << "a job may make several runs";
}

TEST(TrackingVariablesTest, WhatTheSubmitterSetStandsAndResumingGetsAnId) {
  const Variables variables =
      VariablesOf(TrackedOrder({"WANDB_NAME=mine", "WANDB_RESUME=allow", "WANDB_TAGS="}));
  EXPECT_EQ(variables.Get("WANDB_NAME", ""), "mine");
  EXPECT_EQ(variables.Get("WANDB_RUN_ID", ""), "alps-12_2");
  EXPECT_EQ(variables.Get("WANDB_TAGS", ""), "muster,alps,job-12_2");
}

TEST(TrackingVariablesTest, WhatAnOuterJobWasGivenIsNotItsJobs) {
  const Variables variables = VariablesOf(
      TrackedOrder({"WANDB_NAME=outer-7", "WANDB_RUN_GROUP=mine", "WANDB_TAGS=muster,alps,job-7",
                    R"(MLFLOW_RUN_CONTEXT={"muster.cluster":"alps","muster.job":"7"})"}));
  EXPECT_EQ(variables.Get("WANDB_NAME", ""), "tr\"ain-12_2");
  EXPECT_EQ(variables.Get("WANDB_TAGS", ""), "muster,alps,job-12_2");
  EXPECT_EQ(variables.Get("WANDB_RUN_GROUP", ""), "mine");
  EXPECT_NE(variables.Get("MLFLOW_RUN_CONTEXT", "").find("12_2"), std::string::npos);
}

}  // namespace
}  // namespace muster::agent
