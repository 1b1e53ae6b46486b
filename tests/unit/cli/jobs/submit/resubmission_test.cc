#include "cli/jobs/submit/resubmission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Time At(int seconds) {
  return Time(std::chrono::seconds(seconds));
}

Submission Batch() {
  Submission submission;
  submission.first = JobId(12);
  submission.spec.name = "train";
  submission.spec.request.tasks = 4;
  submission.program.script = "#!/bin/sh\n";
  submission.program.argv = {"--fast"};
  return submission;
}

Submission Array(std::vector<ArrayRange> ranges) {
  Submission submission = Batch();
  submission.spec.array = ArraySpec{std::move(ranges), 3};
  return submission;
}

DependencyTerm Term(DependencyKind kind, std::uint64_t job) {
  DependencyTerm term;
  term.kind = kind;
  term.job = JobId(job);
  return term;
}

JobView Element(const char* state, const char* element) {
  JobView job;
  job.state = state;
  job.array_task_id = element;
  return job;
}

TEST(Resubmission, ElementsThatEndedOtherwiseThanWellHaveFailed) {
  JobView cancelled = Element("CANCELLED", "");
  cancelled.indices = {{20, 24, 2}};
  EXPECT_THAT(FailedOf({Element("FAILED", "7"), Element("COMPLETED", "1"), cancelled,
                        Element("TIMEOUT", "3"), Element("RUNNING", "4"), Element("PENDING", "5"),
                        Element("OUT_OF_MEMORY", "3")}),
              ElementsAre(3, 7, 20, 22, 24));
  EXPECT_THAT(FailedOf({Element("NODE_FAIL", "")}), ElementsAre(0));
  EXPECT_THAT(FailedOf({Element("COMPLETED", "")}), IsEmpty());
  EXPECT_THAT(FailedOf({}), IsEmpty());
}

TEST(Resubmission, CopiesAreAskedForAgainAndWhatTheyWereWaitedForByIsNot) {
  Submission before = Batch();
  before.program.stage_in = {{"s3:b/x", "/scratch/x"}};
  before.program.stage_out = {{"out", "/archive/out"}};
  before.spec.dependency.terms = {Term(DependencyKind::kAfterOk, 11)};
  const JobRequest again = RequestAgain(before, {}, At(100)).value();
  EXPECT_EQ(again.program.stage_in, before.program.stage_in);
  EXPECT_EQ(again.program.stage_out, before.program.stage_out);
  EXPECT_TRUE(again.spec.dependency.terms.empty());
}

TEST(Resubmission, WhatBelongedToTheFirstTimeIsLeftOut) {
  Submission before = Batch();
  before.spec.held = true;
  before.spec.begin = At(50);
  before.spec.deadline = At(60);
  before.spec.dependency.terms = {Term(DependencyKind::kAfterOk, 3),
                                  Term(DependencyKind::kSingleton, 0)};
  const absl::StatusOr<JobRequest> again = RequestAgain(before, {}, At(100));
  ASSERT_TRUE(again.ok()) << again.status();
  Submission fresh = Batch();
  fresh.spec.dependency.terms = {Term(DependencyKind::kSingleton, 0)};
  EXPECT_EQ(again->spec, fresh.spec);
  EXPECT_EQ(again->program, fresh.program);
  before.spec.begin = At(150);
  EXPECT_EQ(RequestAgain(before, {}, At(100))->spec.begin, At(150)) << "still to come";
}

TEST(Resubmission, OfAnArrayTheElementsThatAreChosen) {
  const absl::StatusOr<JobRequest> again =
      RequestAgain(Array({{0, 9, 1}, {20, 40, 10}}), {2, 3, 4, 9, 30}, At(1));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(again->spec.array->ranges,
              ElementsAre(ArrayRange{2, 4, 1}, ArrayRange{9, 9, 1}, ArrayRange{30, 30, 1}));
  EXPECT_EQ(again->spec.array->max_running, 3U);
  EXPECT_THAT(RequestAgain(Array({{0, 9, 2}}), {}, At(1))->spec.array->ranges,
              ElementsAre(ArrayRange{0, 9, 2}));
}

TEST(Resubmission, WhatCannotBeRunAgainSaysWhy) {
  const auto why = [](const Submission& submission, const std::vector<std::uint32_t>& elements) {
    return std::string(RequestAgain(submission, elements, At(1)).status().message());
  };
  EXPECT_THAT(why(Array({{0, 9, 1}}), {3, 12}), HasSubstr("job 12: has no element 12"));
  EXPECT_THAT(why(Batch(), {3}), HasSubstr("is no array"));
  Submission erased = Batch();
  erased.program.script.clear();
  EXPECT_THAT(why(erased, {}), HasSubstr("its script was erased"));
  Submission run = Batch();
  run.spec.kind = JobKind::kRun;
  EXPECT_THAT(why(run, {}), HasSubstr("has no script"));
}

}  // namespace
}  // namespace muster::cli
