// A live cluster's jobs as the forecast takes them.

#include "cli/whatif/live_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace muster::cli {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr Time kNow{std::chrono::milliseconds(1'000'000'000)};

NodeView Node(const std::string& name, const std::string& state, std::uint32_t cpus,
              std::uint32_t gpus) {
  NodeView node;
  node.name = name;
  node.state = state;
  node.cpus = cpus;
  node.gpus = gpus;
  return node;
}

JobView Running(std::uint64_t id, const std::string& user, std::uint32_t cpus, seconds ago,
                seconds limit) {
  JobView job;
  job.id = JobId(id);
  job.user = user;
  job.state = "RUNNING";
  job.nodes = {"n1"};
  job.cpus = cpus;
  job.start_time = kNow - ago;
  job.time_limit = limit;
  return job;
}

JobView Waiting(std::uint64_t id, const std::string& user, std::uint32_t cpus, seconds limit) {
  JobView job;
  job.id = JobId(id);
  job.label = std::to_string(id);
  job.user = user;
  job.state = "PENDING";
  job.reason.kind = "Resources";
  job.cpus = cpus;
  job.submit_time = kNow - seconds(60);
  job.time_limit = limit;
  return job;
}

JobView Ended(const std::string& user, seconds ran, seconds limit) {
  JobView job;
  job.user = user;
  job.state = "COMPLETED";
  job.start_time = kNow - seconds(5000);
  job.end_time = job.start_time + ran;
  job.time_limit = limit;
  return job;
}

TEST(LiveForecast, OneWhoUsesHalfOfTheLimitMakesRoomAsEarly) {
  const std::vector<JobView> past(8, Ended("ann", seconds(50), seconds(100)));
  const LiveState live = ReadLiveState(
      {Node("n1", "ALLOCATED", 4, 0)},
      {Running(1, "ann", 4, seconds(100), seconds(1000)), Waiting(2, "bob", 4, seconds(300))}, past,
      kNow, ForecastUnit::kCpus);
  EXPECT_EQ(live.past, 8U);
  const auto starts = sim::ForecastStarts(live.state, LivePolicy(), live.use, {});
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].p50 - live.state.now, 400);
  EXPECT_EQ(starts[0].if_limits - live.state.now, 900);
  const nlohmann::json document =
      nlohmann::json::parse(LiveForecastDocument(live, starts, sim::ForecastOptions()));
  EXPECT_EQ(document["jobs"][0]["id"], 2);
  EXPECT_EQ(document["jobs"][0]["p50"], "1970-01-12T13:53:20.000Z");
  EXPECT_EQ(document["jobs"][0]["expected_start"], nullptr);
  EXPECT_THAT(PrintLiveForecast(live, starts, sim::ForecastOptions(), Style()), HasSubstr("6:40"));
}

TEST(LiveForecast, WhatWaitsForSomethingElseIsCountedAndNotEstimated) {
  JobView held = Waiting(3, "bob", 1, seconds(10));
  held.reason.kind = "JobHeldUser";
  const LiveState live = ReadLiveState(
      {Node("n1", "IDLE", 4, 2), Node("n2", "DOWN", 64, 0), Node("n3", "IDLE+DRAIN", 64, 0)},
      {held, Waiting(4, "bob", 5, seconds(10)), Waiting(5, "bob", 1, seconds(0)),
       Waiting(6, "bob", 4, seconds(10))},
      {}, kNow, ForecastUnit::kCpus);
  EXPECT_EQ(live.state.processors, 4);
  EXPECT_EQ(live.left_out, 3U);
  ASSERT_EQ(live.waiting.size(), 1U);
  EXPECT_EQ(live.waiting[0].id, JobId(6));
}

TEST(LiveForecast, PriorityGoesBeforeSubmissionAndSubmissionBeforeTheNumber) {
  JobView late = Waiting(7, "bob", 1, seconds(10));
  late.submit_time += seconds(30);
  JobView urgent = Waiting(9, "bob", 1, seconds(10));
  urgent.priority = 5;
  const LiveState live =
      ReadLiveState({Node("n1", "IDLE", 4, 0)}, {late, Waiting(8, "bob", 1, seconds(10)), urgent},
                    {}, kNow, ForecastUnit::kCpus);
  ASSERT_EQ(live.waiting.size(), 3U);
  EXPECT_EQ(live.waiting[0].id, JobId(9));
  EXPECT_EQ(live.waiting[1].id, JobId(8));
  EXPECT_EQ(live.waiting[2].id, JobId(7));
}

TEST(LiveForecast, AJobWithoutALimitKeepsWhatItHasAndOneBeyondItsLimitEndsSoon) {
  JobView endless = Running(1, "ann", 2, seconds(100), seconds(0));
  const LiveState live =
      ReadLiveState({Node("n1", "MIXED", 8, 0)},
                    {endless, Running(2, "ann", 6, seconds(500), seconds(400)),
                     Waiting(3, "bob", 6, seconds(9)), Waiting(4, "bob", 7, seconds(9))},
                    {}, kNow, ForecastUnit::kCpus);
  EXPECT_EQ(live.state.processors, 6);
  EXPECT_EQ(live.left_out, 1U) << "seven are not to be had";
  const auto starts = sim::ForecastStarts(live.state, LivePolicy(), live.use, {});
  EXPECT_EQ(starts[0].p90 - live.state.now, 1);
}

TEST(LiveForecast, OfGpusOnlyTheirJobsCount) {
  JobView gpus = Waiting(5, "bob", 1, seconds(10));
  gpus.gpus = 2;
  const LiveState live =
      ReadLiveState({Node("n1", "IDLE", 64, 2)}, {gpus, Waiting(6, "bob", 1, seconds(10))}, {},
                    kNow, ForecastUnit::kGpus);
  EXPECT_EQ(live.state.processors, 2);
  EXPECT_EQ(live.waiting.size(), 1U);
  EXPECT_EQ(live.left_out, 1U);
}

}  // namespace
}  // namespace muster::cli
