#include "cli/stage/bulk_traffic.h"

#include <gmock/gmock.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BulkTrafficTest, EachClassHasItsOwnVariables) {
  const Environment environment({"MUSTER_STAGING_NIC=eth1,eth2", "MUSTER_STAGING_RATE=2000",
                                 "MUSTER_STAGING_DSCP=10", "MUSTER_CHECKPOINT_DSCP=64"});
  const BulkTraffic staging = BulkTrafficOf(kStagingCopies, environment);
  EXPECT_THAT(staging.nics, ElementsAre("eth1", "eth2"));
  EXPECT_EQ(staging.rate, 2000U);
  EXPECT_EQ(staging.dscp, 10U);
  const BulkTraffic checkpoints = BulkTrafficOf(kCheckpointCopies, environment);
  EXPECT_THAT(checkpoints.nics, IsEmpty());
  EXPECT_EQ(checkpoints.rate, 0U);
  EXPECT_EQ(checkpoints.dscp, 0U);  // none is as large
}

TEST(BulkTrafficTest, RcloneBindsToTheAddressOfTheFirstNicThatHasOne) {
  EXPECT_EQ(AddressOfNics({"no-such-nic", "lo"}).value_or(NicAddress()),
            (NicAddress{"lo", "127.0.0.1"}));
  EXPECT_FALSE(AddressOfNics({"no-such-nic"}).ok());
  EXPECT_THAT(
      BulkWords(kStagingCopies, Environment({"MUSTER_STAGING_NIC=lo", "MUSTER_STAGING_RATE=5"})),
      ElementsAre("--bwlimit=5B", "--bind=127.0.0.1"));
  EXPECT_THAT(BulkWords(kStagingCopies, Environment()), IsEmpty());
}

}  // namespace
}  // namespace muster::cli
