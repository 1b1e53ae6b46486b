#include "cli/service/service_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/service/service_calls.h"
#include "scheduler/runtime/signals.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A cluster whose replicas are ready as soon as they are submitted. The service is stopped once the
// keeper has looked so often.
class ServiceKeeperTest : public ::testing::Test {
 protected:
  ServiceKeeperTest() { Add(2); }

  JobId Add(std::uint32_t count) {
    ++arrays_;
    for (std::uint32_t i = 0; i < count; ++i) {
      ServiceReplica replica;
      replica.id = JobId(next_++);
      replica.job = {.job = JobId(arrays_ * 10), .elements = {i}};
      replica.label = absl::StrCat(arrays_ * 10, "_", i);
      replica.job_state = "RUNNING";
      replica.note.state = kReplicaReady;
      now_.replicas.push_back(replica);
    }
    return JobId(arrays_ * 10);
  }
  ServiceCalls Calls() {
    return {.find = [this]() -> absl::StatusOr<ServiceNow> {
              if (++looks_ == fails_at_) {
                return absl::UnavailableError("no controller answers");
              }
              if (looks_ > stopped_after_) {
                now_.terms.replicas = 0;
              }
              return now_;
            },
            .ask =
                [this](const ServiceTerms& terms) {
                  now_.terms = terms;
                  now_.terms.change = terms.change + 1;
                  return absl::OkStatus();
                },
            .add = [this](std::uint32_t count) { return Add(count); },
            .leave = [](const auto&) { return absl::OkStatus(); },
            .cancel =
                [this](const std::vector<ServiceReplica>& which) {
                  for (const ServiceReplica& each : which) {
                    std::erase_if(now_.replicas, [&each](const ServiceReplica& replica) {
                      return replica.id == each.id;
                    });
                  }
                  return absl::OkStatus();
                },
            .reported = [this](const auto&, const auto&) { return said_; },
            .now = [] { return Time(seconds(1'000)); },
            .wait = [](Duration) {}};
  }
  absl::StatusOr<int> Keep() {
    return KeepService(
        Calls(), {}, [this](const std::string& line) { told_.push_back(line); }, signals_);
  }

  const UniqueFd signals_ = BlockSignals({SIGUSR2}).value();
  ServiceNow now_{.replicas = {}, .terms = {.change = 1, .replicas = 2}};
  std::vector<double> said_;
  std::vector<std::string> told_;
  int looks_ = 0;
  int fails_at_ = 0;
  int stopped_after_ = 5;
  std::uint64_t next_ = 1;
  std::uint64_t arrays_ = 0;
};

TEST_F(ServiceKeeperTest, AReplicaThatEndedIsReplacedUntilTheServiceIsStopped) {
  now_.replicas.pop_back();
  EXPECT_EQ(*Keep(), 0);
  EXPECT_THAT(told_, ElementsAre("1 replica is missing: job 20", "the service is stopped"));
  EXPECT_EQ(now_.replicas.size(), 2U);
}

TEST_F(ServiceKeeperTest, AServiceThatReportsMuchGrowsByItsRule) {
  now_.terms.rule = ScaleRule{.least = 1, .most = 3, .metric = "inflight", .target = 10};
  said_ = {20, 30};
  EXPECT_EQ(*Keep(), 0);
  EXPECT_THAT(told_, ElementsAre("from 2 to 3 replicas: inflight is 25, to be 10",
                                 "1 replica is missing: job 20", "the service is stopped"));
}

TEST_F(ServiceKeeperTest, AServiceWithoutALiveReplicaIsBegunAtOnce) {
  now_.replicas.clear();
  stopped_after_ = 1;
  EXPECT_EQ(*Keep(), 0);
  EXPECT_THAT(told_, ElementsAre("2 replicas are missing: job 20", "the service is stopped"));
}

TEST_F(ServiceKeeperTest, AControllerThatDoesNotAnswerForAWhileIsWaitedFor) {
  fails_at_ = 2;
  stopped_after_ = 3;
  testing::internal::CaptureStderr();
  EXPECT_EQ(*Keep(), 0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("muster service: no controller answers\n"));
  EXPECT_THAT(said, HasSubstr("muster service: the service is kept again\n"));
}

TEST_F(ServiceKeeperTest, WhatOneOfAnEarlierVersionWasToBeIsWrittenDown) {
  now_.terms.change = 0;
  stopped_after_ = 2;
  EXPECT_EQ(*Keep(), 0);
  EXPECT_EQ(now_.terms.change, 1U);
}

TEST_F(ServiceKeeperTest, ASignalEndsTheKeeperAndNotTheService) {
  stopped_after_ = 1'000;
  raise(SIGUSR2);
  EXPECT_EQ(*Keep(), 0);
  EXPECT_EQ(looks_, 2) << "at first, and once more";
  EXPECT_EQ(now_.replicas.size(), 2U);
  EXPECT_TRUE(NextSignal(signals_).ok()) << "the next test gets none of it";
}

TEST_F(ServiceKeeperTest, AServiceThatIsNotThereIsAnError) {
  fails_at_ = 1;
  EXPECT_EQ(Keep().status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace muster::cli
