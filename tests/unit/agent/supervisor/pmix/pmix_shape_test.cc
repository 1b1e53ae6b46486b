#include "agent/supervisor/pmix/pmix_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agent/supervisor/pmix/open_mpi_variables.h"
#include "agent/supervisor/pmix/pmix_step_config.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

// Ranks 0 and 2 on node a, 1 and 3 on node b, which is ours.
PmixStepConfig TwoNodes() {
  PmixStepConfig step;
  step.nspace = "muster.1.1.1.code";
  step.nodes = {"a", "b"};
  step.node_index = 1;
  step.node_of_rank = {0, 1, 0, 1};
  step.local_cpusets = {"0", "1"};
  return step;
}

TEST(PmixShape, AStepThatCannotBeIsRefusedInWords) {
  EXPECT_TRUE(CheckPmixShape(TwoNodes()).ok());
  PmixStepConfig step = TwoNodes();
  step.nodes[0] = "b";
  EXPECT_THAT(std::string(CheckPmixShape(step).message()), HasSubstr("names of their own"));
  step = TwoNodes();
  step.local_cpusets.pop_back();
  EXPECT_THAT(std::string(CheckPmixShape(step).message()), HasSubstr("1 cpusets"));
  step = TwoNodes();
  step.nspace = "../up";
  EXPECT_THAT(std::string(CheckPmixShape(step).message()), HasSubstr("no slash"));
}

TEST(PmixShape, SegmentsLieInADirectoryWhoseNameHoldsNoSecret) {
  const TempDirectory place;
  const std::string path = MakePmixSegments(place.path(), "muster.1.1.1.code");
  struct stat found = {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);
  EXPECT_THAT(path, Not(HasSubstr("code")));
  EXPECT_EQ(MakePmixSegments("", "muster.1.1.1.code"), "");
  EXPECT_EQ(MakePmixSegments("/nonexistent", "muster.1.1.1.code"), "");
}

TEST(PmixShape, ANameOfSegmentsIsNewAndIsGivenWhereAllMayMakeThem) {
  const TempDirectory place;
  EXPECT_EQ(NamePmixSegments(place.path(), "muster.1.1.1.code"), "") << "it is ours alone";
  ASSERT_EQ(chmod(place.path().c_str(), 01777), 0);
  const std::string path = NamePmixSegments(place.path(), "muster.1.1.1.code");
  EXPECT_THAT(path, StartsWith(place.path() + "/muster.1.1.1."));
  EXPECT_THAT(path, Not(HasSubstr("code")));
  EXPECT_NE(path, NamePmixSegments(place.path(), "muster.1.1.1.code"));
  struct stat found = {};
  EXPECT_NE(stat(path.c_str(), &found), 0);
  EXPECT_EQ(NamePmixSegments("", "muster.1.1.1.code"), "");
  EXPECT_EQ(NamePmixSegments("/nonexistent", "muster.1.1.1.code"), "");
}

TEST(OpenMpiVariablesTest, ARankIsCountedAmongThoseOfItsNode) {
  PmixStepConfig step = TwoNodes();
  step.one_machine = true;
  step.host_memory_only = true;
  step.segments = "/dev/shm/x";
  EXPECT_THAT(OpenMpiVariables(step, 3),
              IsSupersetOf({"JSM_JSRUN_PORT=1", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4",
                            "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2",
                            "OMPI_MCA_btl=self,vader,tcp", "OMPI_MCA_btl_tcp_if_include=lo",
                            "OMPI_MCA_btl_vader_backing_directory=/dev/shm/x"}));
  EXPECT_THAT(OpenMpiVariables(step, 1), Contains("OMPI_COMM_WORLD_LOCAL_RANK=0"));
}

}  // namespace
}  // namespace muster::agent
