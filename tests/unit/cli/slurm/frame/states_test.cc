#include "cli/slurm/frame/states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(States, AreNamesOrCodesInAnyCase) {
  EXPECT_THAT(ReadStates("PD,failed").value(), ElementsAre("PENDING", "FAILED"));
  EXPECT_THAT(ReadStates("all").value(), IsEmpty());
  EXPECT_THAT(ReadStates("PD,All").value(), IsEmpty());
}

TEST(States, AJobThatIsBeingStartedRuns) {
  EXPECT_THAT(ReadStates("r").value(), ElementsAre("RUNNING", "CONFIGURING"));
}

TEST(States, OnesThatOnlySlurmHasAreLegalAndEmpty) {
  EXPECT_THAT(ReadStates("BF,ST,special_exit").value(), ElementsAre("-"));
}

TEST(States, AnUnknownOneIsNamed) {
  EXPECT_EQ(ReadStates("PD,nosuch").status().message(), "Invalid job state specified: nosuch");
}

}  // namespace
}  // namespace muster::cli::slurm
