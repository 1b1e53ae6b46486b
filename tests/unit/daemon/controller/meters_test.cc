#include "daemon/controller/meters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;

constexpr std::array<double, 2> kBounds = {0.001, 1};

TEST(TimingsTest, EachTimeIsInTheFirstBucketThatHoldsIt) {
  Timings timings(kBounds);
  timings.Observe(std::chrono::microseconds(1000));
  timings.Observe(std::chrono::microseconds(1001));
  timings.Observe(std::chrono::seconds(1));
  timings.Observe(std::chrono::seconds(100));
  const Timings::Reading reading = timings.Read();
  EXPECT_THAT(reading.counts, ElementsAre(1U, 2U, 1U));
  EXPECT_NEAR(reading.seconds, 101.002001, 1e-9);
}

TEST(MetersTest, EventsAndEndedAttemptsAreCounted) {
  Meters meters;
  const core::ClusterState state;
  JobSubmitted submitted;
  submitted.count = 7;
  meters.Note(Event(submitted), state);
  JobEnded ended;
  ended.state = JobState::kCancelled;
  ended.more = 2;
  meters.Note(Event(ended), state);
  EXPECT_EQ(meters.submitted, 7U);
  EXPECT_EQ(meters.ended[static_cast<std::size_t>(JobState::kCancelled)], 3U);
  AttemptView attempt;
  attempt.start_time = Time(std::chrono::seconds(10));
  attempt.end_time = Time(std::chrono::seconds(30));
  attempt.lost = std::chrono::seconds(5);
  attempt.checkpoints.count = 4;
  attempt.usage.gpu_energy_mj = 1000;
  meters.Note(attempt);
  meters.Note(attempt);
  EXPECT_EQ(meters.held_ms, 40'000);
  EXPECT_EQ(meters.lost_ms, 10'000);
  EXPECT_EQ(meters.checkpoints, 8U);
  EXPECT_EQ(meters.gpu_energy_mj, 2000U);
}

}  // namespace
}  // namespace muster::daemon
