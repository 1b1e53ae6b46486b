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

}  // namespace
}  // namespace muster::cli
