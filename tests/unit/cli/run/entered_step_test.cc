#include "cli/run/entered_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;

TEST(EnteredStep, TakesNothingFromOthersAndRunsOnThatNode) {
  const StepSpec spec = EnteringStep({"n2", JoinedRank{}});
  EXPECT_TRUE(spec.overlap);
  EXPECT_EQ(spec.tasks, 1U);
  EXPECT_THAT(spec.nodelist, ElementsAre("n2"));
}

TEST(EnteredStep, HasNoEnvironmentOfItsOwn) {
  JobDetail job;
  const JoinedPlace place{"n1", JoinedRank{StepId(2), 5}};
  const Program program = EnteringProgram(job, place, {"cat"});
  EXPECT_THAT(program.environment, ElementsAre(ToVariable(place.joined)));
  EXPECT_EQ(program.work_dir, "/");
  job.work_dir = "/data";
  EXPECT_EQ(EnteringProgram(job, place, {"cat"}).work_dir, "/data");
}

}  // namespace
}  // namespace muster::cli
