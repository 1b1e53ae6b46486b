#include "scheduler/core/prompt/job_estimates.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "scheduler/model/job/job_estimate.h"

namespace muster::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

JobSpec Spec(const std::string& name, Duration limit, std::uint32_t uid = 1000) {
  JobSpec spec;
  spec.name = name;
  spec.user = User{uid, uid, "u"};
  spec.time_limit = limit;
  spec.request.tasks = 4;
  return spec;
}

// The job runs for so long and ends so.
void RunJob(JobEstimates& estimates, const JobSpec& spec, Duration ran,
            JobState end = JobState::kCompleted) {
  Job job;
  job.spec = std::make_shared<const JobSpec>(spec);
  job.estimate = estimates.Of(spec);
  job.attempt.emplace();
  job.attempt->started = Time(hours(1000));
  JobEnded ended;
  ended.state = end;
  ended.time = job.attempt->started + ran;
  estimates.Observe(job, ended);
}

TEST(JobEstimates, AUserWithoutAPastIsTakenAtHisWord) {
  const JobEstimate estimate = JobEstimates().Of(Spec("train", hours(2)));
  EXPECT_EQ(estimate.used, hours(2));
  EXPECT_EQ(estimate.source, EstimateSource::kLimit);
}

TEST(JobEstimates, RunsOfThatNameCountBeforeOthersOfThatLimit) {
  JobEstimates estimates;
  for (int i = 0; i < 4; ++i) {
    RunJob(estimates, Spec("train-" + std::to_string(i), hours(2)), minutes(90));
    RunJob(estimates, Spec("test-" + std::to_string(i), hours(2)), minutes(3));
  }
  JobSpec larger = Spec("test-9", hours(2));
  larger.request.tasks = 64;
  EXPECT_EQ(estimates.Of(larger).used, minutes(3));
  EXPECT_EQ(estimates.Of(larger).source, EstimateSource::kSameName);
  EXPECT_EQ(estimates.Of(Spec("train-9", hours(2))).used, minutes(90));
  EXPECT_EQ(estimates.Of(Spec("train-9", hours(2))).source, EstimateSource::kAlike);
  EXPECT_GT(estimates.Of(larger).trust, 0);
}

TEST(JobEstimates, WhoChangesHisNameIsTheSame) {
  JobEstimates estimates;
  for (int i = 0; i < 4; ++i) {
    RunJob(estimates, Spec("a", hours(2)), minutes(5));
  }
  JobSpec renamed = Spec("a", hours(2));
  renamed.user.name = "another";
  EXPECT_EQ(estimates.Of(renamed).used, minutes(5));
  EXPECT_EQ(estimates.Of(Spec("a", hours(2), 1001)).used, hours(2)) << "another user is another";
}

TEST(JobEstimates, WhatWasCancelledOrEndedBeforeItBeganTeachesNothing) {
  JobEstimates estimates;
  for (int i = 0; i < 6; ++i) {
    RunJob(estimates, Spec("a", hours(2)), minutes(1), JobState::kCancelled);
    RunJob(estimates, Spec("a", hours(2)), minutes(1), JobState::kNodeFail);
    RunJob(estimates, Spec("a", hours(2)), -minutes(1));
  }
  EXPECT_EQ(estimates.Of(Spec("a", hours(2))).used, hours(2));
}

TEST(JobEstimates, ALimitOfAYearAndNoneAreNumbersLikeOthers) {
  JobEstimates estimates;
  for (int i = 0; i < 4; ++i) {
    RunJob(estimates, Spec("a", hours(24 * 366)), minutes(10));
    RunJob(estimates, Spec("b", Duration(0)), minutes(20));
  }
  EXPECT_EQ(estimates.Of(Spec("a", hours(24 * 366))).used, minutes(10));
  EXPECT_EQ(estimates.Of(Spec("b", Duration(0))).used, minutes(20));
}

TEST(JobEstimates, AreWrittenIntoSubmissions) {
  JobEstimates estimates;
  JobSubmitted submitted;
  submitted.spec = Spec("a", hours(3));
  std::vector<Event> events = {submitted};
  estimates.AddTo(events);
  EXPECT_EQ(std::get<JobSubmitted>(events.front()).estimate.used, hours(3));
}

}  // namespace
}  // namespace muster::core
