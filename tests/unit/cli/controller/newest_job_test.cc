#include "cli/controller/query/newest_job.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(NewestJob, TheWordMayStandBeforeAStepAnElementOrAComponent) {
  for (const char* text : {"last", "last.1", "last.batch", "last_3", "last+1"}) {
    EXPECT_TRUE(NamesLast(text)) << text;
  }
  for (const char* text : {"", "las", "lastly", "last-1", "12", "Last"}) {
    EXPECT_FALSE(NamesLast(text)) << text;
  }
}

TEST(NewestJob, TheNewestIsTheOneThatWasSubmittedLast) {
  EXPECT_FALSE(NewestOf({}).valid());
  JobView plain;
  plain.id = JobId(4);
  plain.array_job_id = JobId(4);
  JobView element;
  element.id = JobId(9);
  element.array_job_id = JobId(7);
  element.array_task_id = "2";
  EXPECT_EQ(NewestOf({element, plain}), JobId(7)) << "of an array its own number";
  JobView component;
  component.id = JobId(12);
  component.array_job_id = JobId(12);
  component.het_job = JobId(11);
  component.het_size = 2;
  EXPECT_EQ(NewestOf({plain, component}), JobId(11));
}

JobView Named(std::uint64_t id, const char* name) {
  JobView job;
  job.id = JobId(id);
  job.array_job_id = JobId(id);
  job.name = name;
  return job;
}

TEST(NewestJob, ANameIsTheNewestJobThatHasIt) {
  const std::vector<JobView> jobs = {Named(4, "train"), Named(9, "train"), Named(7, "eval"),
                                     Named(3, "train_3"), Named(12, "last")};
  EXPECT_EQ(WithNumber(jobs, "train"), "9");
  EXPECT_EQ(WithNumber(jobs, "eval.1"), "7.1");
  EXPECT_EQ(WithNumber(jobs, "eval_[2-4]"), "7_[2-4]");
  EXPECT_EQ(WithNumber(jobs, "train_3"), "3") << "a whole name before an element";
  EXPECT_EQ(WithNumber(jobs, "train_4.0"), "9_4.0");
  EXPECT_EQ(WithNumber(jobs, "last"), "12");
  EXPECT_EQ(WithNumber(jobs, "lasting"), std::nullopt);
  EXPECT_EQ(WithNumber(jobs, "rain"), std::nullopt);
  EXPECT_EQ(WithNumber({}, "last"), std::nullopt);
  EXPECT_EQ(WithNumber(jobs, "_3"), std::nullopt);
}

TEST(NewestJob, WhatBeginsWithADigitIsANumber) {
  for (const char* text : {"", "1", "12_3", "7z", "[12-15]"}) {
    EXPECT_FALSE(NamesByWord(text)) << text;
  }
  for (const char* text : {"last", "train", "_x", ".5", "[gpu]"}) {
    EXPECT_TRUE(NamesByWord(text)) << text;
  }
}

}  // namespace
}  // namespace muster::cli
