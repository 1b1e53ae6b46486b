#include "scheduler/core/plan/touched_jobs.h"

#include <gtest/gtest.h>

#include <optional>

namespace muster::core {
namespace {

// How many jobs were touched since that version; nothing when that is not known.
std::optional<std::uint64_t> CountSince(const TouchedJobs& touched, std::uint64_t version,
                                        std::uint64_t now) {
  std::vector<JobRange> ranges;
  if (!touched.AppendSince(Version(version), Version(now), ranges)) {
    return std::nullopt;
  }
  std::uint64_t count = 0;
  for (const JobRange& range : ranges) {
    count += range.end.value() - range.first.value();
  }
  return count;
}

TEST(TouchedJobs, ASubmissionTouchesAllOfItsJobs) {
  TouchedJobs touched;
  JobSubmitted event;
  event.first = JobId(5);
  event.count = 100;
  touched.Note(event, Version(1));
  EXPECT_EQ(CountSince(touched, 0, 1), 100U);
  EXPECT_EQ(CountSince(touched, 1, 1), 0U);
}

TEST(TouchedJobs, ElementsThatEndTogetherAreTouchedTogether) {
  TouchedJobs touched;
  JobEnded event;
  event.job = JobId(5);
  event.more = 9;
  touched.Note(event, Version(1));
  EXPECT_EQ(CountSince(touched, 0, 1), 10U);
}

TEST(TouchedJobs, AnAttemptFoundOnANodeTouchesItsJob) {
  TouchedJobs touched;
  AttemptQuarantined event;
  event.attempt.job = JobId(7);
  touched.Note(event, Version(1));
  EXPECT_EQ(CountSince(touched, 0, 1), 1U);
}

TEST(TouchedJobs, AfterAnEventThatItWasNotToldOfItKnowsNothingOlder) {
  TouchedJobs touched;
  touched.Note(JobHeld{JobId(1), true, Time(), HoldBy::kUser}, Version(1));
  touched.Note(JobHeld{JobId(2), true, Time(), HoldBy::kUser}, Version(3));
  EXPECT_EQ(CountSince(touched, 1, 3), std::nullopt);
  EXPECT_EQ(CountSince(touched, 3, 3), 0U);
}

TEST(TouchedJobs, OfAStateThatIsFurtherItKnowsNothing) {
  TouchedJobs touched;
  touched.Note(JobHeld{JobId(1), true, Time(), HoldBy::kUser}, Version(1));
  EXPECT_EQ(CountSince(touched, 0, 2), std::nullopt);
}

}  // namespace
}  // namespace muster::core
