// Which controller Slurm's commands call, and --clusters.

#include "cli/slurm/frame/cluster.h"

#include <gtest/gtest.h>

#include "cli/slurm/frame/errors.h"

namespace muster::cli::slurm {
namespace {

TEST(SlurmCluster, TheEnvironmentSaysWhereTheControllerIs) {
  const Environment environment(
      std::vector<std::string>{"MUSTER_CONTROLLER=unix:/not/there/controller.sock"});
  const auto connection = OpenCluster({environment, "squeue", {}});
  ASSERT_TRUE(connection.ok());
  EXPECT_EQ(SlurmText((*connection)->Call(Ping{}).status()),
            "Unable to contact slurm controller (connect failure)");
  EXPECT_FALSE(
      OpenCluster({Environment(std::vector<std::string>{"MUSTER_CONTROLLER=nonsense"}), "", {}})
          .ok());
}

TEST(SlurmCluster, AllClustersAreThisOneWithoutAsking) {
  const Environment environment(
      std::vector<std::string>{"MUSTER_CONTROLLER=unix:/not/there/controller.sock"});
  const auto connection = OpenCluster({environment, "squeue", {}});
  ASSERT_TRUE(connection.ok());
  EXPECT_TRUE(CheckClusters(**connection, "").ok());
  EXPECT_TRUE(CheckClusters(**connection, "all").ok());
  EXPECT_TRUE(absl::IsUnavailable(CheckClusters(**connection, "other")));
}

}  // namespace
}  // namespace muster::cli::slurm
