// Where srun --bcast puts a program.

#include "cli/slurm/submit/broadcast.h"

#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

TEST(Broadcast, ADestinationIsAFileUnlessItEndsWithASlash) {
  EXPECT_EQ(BroadcastPath("/tmp/mine", "/bin/true", "7"), "/tmp/mine");
  EXPECT_EQ(BroadcastPath("/tmp/", "/bin/true", "7"), "/tmp/slurm_bcast_7_true");
  EXPECT_EQ(BroadcastPath("", "/home/ada/solver", "12"), "slurm_bcast_12_solver");
}

}  // namespace
}  // namespace muster::cli::slurm
