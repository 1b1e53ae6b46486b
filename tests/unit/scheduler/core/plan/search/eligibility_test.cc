#include "scheduler/core/plan/search/eligibility.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::Normal;
using testing::Tasks;

SchedulerConfig Policy() {
  SchedulerConfig config;
  config.licenses = {{"ansys", 4}};
  return config;
}

struct Seen {
  std::vector<ReasonKind> kinds;
  CycleCounts counts;
  std::vector<Reason> blockers;
};

Seen LookAt(const WaitingJob& job, std::uint32_t running = 0) {
  Snapshot snapshot;
  snapshot.now = At(1000);
  snapshot.arrays.push_back(ArrayRunning{job.submission, running});
  snapshot.licenses.push_back(LicenseUse{"ansys", 3, {JobId(7), JobId(8)}});
  static const SchedulerConfig config = Policy();
  Seen seen{{}, CycleCounts(snapshot, config), {}};
  AddJobBlockers(snapshot, job, seen.counts, seen.blockers);
  for (const Reason& blocker : seen.blockers) {
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

TEST(Eligibility, AJobThatWaitsForItsImageSaysSo) {
  JobSpec spec = Normal(Tasks(1));
  spec.begin = At(2000);
  spec.container.image = "team/app:v1";
  WaitingJob job = JobOf(spec);
  EXPECT_EQ(LookAt(job).blockers.back().name, "") << "it was to begin then";
  job.last_attempt = AttemptNumber(1);
  EXPECT_EQ(LookAt(job).blockers.back().name, "at its last start there was no image team/app:v1");
}

TEST(Eligibility, ABeginTimeWakesThePassUnlessTheJobIsHeld) {
  JobSpec spec = Normal(Tasks(1));
  spec.begin = At(2000);
  WaitingJob job = JobOf(spec);
  EXPECT_EQ(LookAt(job).counts.wake, At(2000));
  job.held = true;
  EXPECT_EQ(LookAt(job).counts.wake, kNoTime);
}

TEST(Eligibility, ADeadlineWakesThePassWhenTheJobMissesItAndThenEndsTheJob) {
  JobSpec spec = Normal(Tasks(1));
  spec.time_limit = std::chrono::seconds(100);
  spec.deadline = At(1500);
  EXPECT_TRUE(LookAt(JobOf(spec)).kinds.empty());
  EXPECT_EQ(LookAt(JobOf(spec)).counts.wake, At(1400) + Duration(1));
  spec.deadline = At(1099);
  const Seen late = LookAt(JobOf(spec));
  EXPECT_EQ(late.kinds, std::vector{ReasonKind::kDeadline});
  const std::optional<PlannedDrop> drop = DropOf(JobOf(spec), late.blockers);
  ASSERT_TRUE(drop.has_value());
  EXPECT_EQ(drop->state, JobState::kDeadline);
}

TEST(Eligibility, ALicenceThatIsShortSaysWhoHoldsIt) {
  JobSpec spec = Normal(Tasks(1));
  spec.licenses = {{"ansys", 2}};
  const Seen seen = LookAt(JobOf(spec));
  ASSERT_EQ(seen.kinds, std::vector{ReasonKind::kLicenses});
  EXPECT_EQ(ToSentence(seen.blockers.front()),
            "needs 2 of licence ansys: 3 of 4 in use by jobs 7, 8");
  spec.licenses = {{"ansys", 1}};
  EXPECT_TRUE(LookAt(JobOf(spec)).kinds.empty());
}

TEST(Eligibility, ALicenceThatShrankSaysNever) {
  JobSpec spec = Normal(Tasks(1));
  spec.licenses = {{"ansys", 5}};
  const Seen seen = LookAt(JobOf(spec));
  ASSERT_EQ(seen.kinds, std::vector{ReasonKind::kLicenses});
  EXPECT_EQ(seen.blockers.front().verdict, ReasonClass::kNever);
}

TEST(Eligibility, ADependencySaysWhatIsOpenAndWhenTimeAloneMeetsIt) {
  WaitingJob job = JobOf(Normal(Tasks(1)));
  OpenDependency open;
  open.terms = "after:3+5";
  open.until = At(1300);
  job.dependency = std::make_shared<const OpenDependency>(open);
  const Seen seen = LookAt(job);
  ASSERT_EQ(seen.kinds, std::vector{ReasonKind::kDependency});
  EXPECT_EQ(seen.counts.wake, At(1300));
  EXPECT_EQ(ToSentence(seen.blockers.front()),
            "waits for after:3+5, until 1970-01-01 00:21:40 UTC");
}

TEST(Eligibility, ADependencyThatIsNeverMetEndsTheJobOnlyWhenItSaysSo) {
  JobSpec spec = Normal(Tasks(1));
  WaitingJob job = JobOf(spec);
  OpenDependency open;
  open.state = TermState::kNever;
  open.terms = "afterok:3";
  job.dependency = std::make_shared<const OpenDependency>(open);
  Seen seen = LookAt(job);
  ASSERT_EQ(seen.kinds, std::vector{ReasonKind::kDependencyNeverSatisfied});
  EXPECT_FALSE(DropOf(job, seen.blockers).has_value());
  spec.kill_on_invalid_dep = Choice::kYes;
  job.spec = std::make_shared<const JobSpec>(spec);
  EXPECT_EQ(DropOf(job, seen.blockers)->state, JobState::kCancelled);
}

TEST(Eligibility, PlannedStartsCountAgainstTheThrottle) {
  const WaitingJob job = JobOf(Throttled(2));
  Seen seen = LookAt(job, 1);
  EXPECT_TRUE(seen.kinds.empty());
  CountStart(job, seen.counts);
  EXPECT_EQ(seen.counts.array_running.at(job.submission), 2U);
}

}  // namespace
}  // namespace muster::core
