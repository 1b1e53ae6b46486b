// A schedule over time, slice by slice.

#include "scheduler/simulator/schedule/schedule_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <numeric>

namespace muster::sim {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::Pointwise;

ScheduleRow Row(std::int64_t submit, std::int64_t wait, std::int64_t run, std::int64_t processors) {
  ScheduleRow row;
  row.submission_time = submit;
  row.starting_time = submit + wait;
  row.execution_time = run;
  row.requested_resources = processors;
  return row;
}

TEST(ScheduleProfile, IsTheMeanOfWhatHoldsInEachSlice) {
  ScheduleProfile profile;
  profile.Add(Row(0, 0, 25, 4));   // [0, 25)
  profile.Add(Row(5, 20, 10, 2));  // waits [5, 25), runs [25, 35)
  EXPECT_EQ(profile.first(), 0);
  EXPECT_EQ(profile.last(), 35);
  const TimeSlices slices = SliceTime(0, 35, 4);
  EXPECT_EQ(slices.length, 9);
  EXPECT_EQ(slices.count, 4U);
  const TimeSlices tens{.from = 0, .length = 10, .count = 4};
  EXPECT_THAT(profile.ProcessorsInUse(tens),
              Pointwise(DoubleEq(), std::vector<double>{4, 4, 3, 1}));
  EXPECT_THAT(profile.JobsWaiting(tens),
              Pointwise(DoubleEq(), std::vector<double>{0.5, 1, 0.5, 0}));
}

TEST(ScheduleProfile, CountsAWaitByTheFirstBoundThatItDoesNotExceed) {
  ScheduleProfile profile;
  for (const std::int64_t wait : {0, 1, 2, 3, 5, 2'592'000, 2'592'001}) {
    profile.Add(Row(0, wait, 1, 1));
  }
  const std::vector<std::uint64_t> counts = profile.WaitCounts();
  ASSERT_EQ(counts.size(), kWaitBounds.size() + 1);
  EXPECT_THAT(std::vector<std::uint64_t>(counts.begin(), counts.begin() + 5),
              ElementsAre(1U, 1U, 1U, 2U, 0U));
  EXPECT_EQ(counts[kWaitBounds.size() - 1], 1U);
  EXPECT_EQ(counts.back(), 1U);
}

TEST(ScheduleProfile, TheSlicesCoverTheTimeWithoutGapOrExcess) {
  EXPECT_TRUE(rc::check([] {
    const auto from = *rc::gen::inRange<std::int64_t>(-1000, 1000);
    const auto span = *rc::gen::inRange<std::int64_t>(0, 100'000);
    const auto most = *rc::gen::inRange<std::size_t>(1, 2000);
    const TimeSlices slices = SliceTime(from, from + span, most);
    RC_ASSERT(slices.count <= most);
    const auto covered = static_cast<std::int64_t>(slices.count) * slices.length;
    RC_ASSERT(covered >= span);
    RC_ASSERT(covered < span + slices.length);
  }));
}

TEST(ScheduleProfile, NoProcessorSecondIsLostWhateverTheSlices) {
  EXPECT_TRUE(rc::check([] {
    ScheduleProfile profile;
    double work = 0;
    double waited = 0;
    const auto jobs = *rc::gen::inRange(1, 40);
    for (int i = 0; i < jobs; ++i) {
      const auto submit = *rc::gen::inRange<std::int64_t>(0, 5000);
      const auto wait = *rc::gen::inRange<std::int64_t>(0, 5000);
      const auto run = *rc::gen::inRange<std::int64_t>(1, 5000);
      const auto processors = *rc::gen::inRange<std::int64_t>(1, 100);
      profile.Add(Row(submit, wait, run, processors));
      work += static_cast<double>(run * processors);
      waited += static_cast<double>(wait);
    }
    const TimeSlices slices =
        SliceTime(profile.first(), profile.last(), *rc::gen::inRange<std::size_t>(1, 300));
    const auto area = [&slices](const std::vector<double>& means) {
      return std::accumulate(means.begin(), means.end(), 0.0) * static_cast<double>(slices.length);
    };
    RC_ASSERT(std::abs(area(profile.ProcessorsInUse(slices)) - work) <= 1e-9 * work);
    RC_ASSERT(std::abs(area(profile.JobsWaiting(slices)) - waited) <= 1e-9 * (waited + 1));
  }));
}

}  // namespace
}  // namespace muster::sim
