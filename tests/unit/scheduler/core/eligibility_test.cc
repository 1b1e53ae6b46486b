#include "scheduler/core/eligibility.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster {
namespace {

using testing::At;
using testing::Normal;
using testing::Tasks;

struct Seen {
  std::vector<ReasonKind> kinds;
  PassCounts counts;
};

Seen LookAt(const WaitingJob& job, std::uint32_t running = 0) {
  Snapshot snapshot;
  snapshot.now = At(1000);
  snapshot.arrays.push_back(ArrayRunning{job.submission, running});
  Seen seen{{}, CountsOf(snapshot)};
  std::vector<Reason> blockers;
  AddJobBlockers(snapshot, job, seen.counts, blockers);
  for (const Reason& blocker : blockers) {
    seen.kinds.push_back(blocker.kind);
  }
  return seen;
}

WaitingJob JobOf(const JobSpec& spec) {
  WaitingJob job;
  job.id = JobId(1);
  job.submission = job.id;
  job.spec = std::make_shared<const JobSpec>(spec);
  return job;
}

JobSpec Throttled(std::uint32_t limit) {
  JobSpec spec = Normal(Tasks(1));
  spec.array = ArraySpec{{ArrayRange{0, 9, 1}}, limit};
  return spec;
}

TEST(Eligibility, AJobWithoutBlockersMayBeLookedAt) {
  const Seen seen = LookAt(JobOf(Normal(Tasks(1))));
  EXPECT_TRUE(seen.kinds.empty());
  EXPECT_EQ(seen.counts.wake, kNoTime);
}

TEST(Eligibility, EveryBlockerIsToldAndTheHoldFirst) {
  JobSpec spec = Throttled(2);
  spec.begin = At(2000);
  WaitingJob job = JobOf(spec);
  job.held = true;
  job.quarantined = true;
  EXPECT_EQ(LookAt(job, 2).kinds,
            (std::vector{ReasonKind::kJobHeldUser, ReasonKind::kCleaning, ReasonKind::kBeginTime,
                         ReasonKind::kJobArrayTaskLimit}));
}

TEST(Eligibility, ABeginTimeWakesThePassUnlessTheJobIsHeld) {
  JobSpec spec = Normal(Tasks(1));
  spec.begin = At(2000);
  WaitingJob job = JobOf(spec);
  EXPECT_EQ(LookAt(job).counts.wake, At(2000));
  job.held = true;
  EXPECT_EQ(LookAt(job).counts.wake, kNoTime);
}

TEST(Eligibility, PlannedStartsCountAgainstTheThrottle) {
  const WaitingJob job = JobOf(Throttled(2));
  Seen seen = LookAt(job, 1);
  EXPECT_TRUE(seen.kinds.empty());
  CountStart(job, seen.counts);
  EXPECT_EQ(seen.counts.array_running.at(job.submission), 2U);
}

}  // namespace
}  // namespace muster
