#include "agent/supervisor/variables/network_variables.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/network_class.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A node with two fabric NICs and two others; two ranks, near the first and the second.
class NetworkVariablesTest : public ::testing::Test {
 protected:
  NetworkVariablesTest() {
    order_.machine.nics = {{"mlx5_0", "", 0, true},
                           {"mlx5_1", "", 1, true},
                           {"eth0", "", 0, false},
                           {"eth1", "", 1, false}};
    node_.ranks.resize(2);
    node_.ranks[0].nic = 1;
    node_.ranks[1].nic = 2;
  }
  std::vector<std::string> Of(const RankPlacement* rank) const {
    std::vector<DeviceVariable> variables;
    AddNetworkVariables(order_, node_, rank, variables);
    std::vector<std::string> texts;
    for (const DeviceVariable& each : variables) {
      EXPECT_TRUE(each.yields) << each.name << " goes before the user's own";
      texts.push_back(absl::StrCat(each.name, "=", each.value));
    }
    return texts;
  }
  SupervisorOrder order_;
  NodeAllocation node_;
};

TEST_F(NetworkVariablesTest, WithoutClassesARankHasTheNicNearIt) {
  EXPECT_THAT(Of(nullptr), IsEmpty());
  EXPECT_THAT(Of(&node_.ranks[1]),
              ElementsAre("UCX_NET_DEVICES=mlx5_1:1", "NCCL_IB_HCA==mlx5_0,mlx5_1"));
}

TEST_F(NetworkVariablesTest, CollectivesGoByTheNicsOfTheirClassAndAreMarked) {
  order_.network = {{.name = kCollectives, .nics = {"mlx5_0", "eth0"}, .dscp = 26}};
  // Its own NIC is not among them: those that are.
  EXPECT_THAT(
      Of(&node_.ranks[1]),
      ElementsAre("UCX_NET_DEVICES=mlx5_0:1", "NCCL_IB_HCA==mlx5_0", "NCCL_SOCKET_IFNAME==eth0",
                  "GLOO_SOCKET_IFNAME=eth0", "NCCL_IB_TC=104", "UCX_IB_TRAFFIC_CLASS=104"));
  EXPECT_THAT(Of(nullptr), ElementsAre("NCCL_SOCKET_IFNAME==eth0", "GLOO_SOCKET_IFNAME=eth0",
                                       "NCCL_IB_TC=104", "UCX_IB_TRAFFIC_CLASS=104"));
}

TEST_F(NetworkVariablesTest, CopiesAreToldTheirNicsAndHowFastTheyMayBe) {
  order_.network = {{.name = kCheckpoints, .nics = {"eth0", "eth1"}, .rate = 1 << 30},
                    {.name = kStaging, .nics = {"eth1"}, .dscp = 8}};
  EXPECT_THAT(Of(nullptr),
              ElementsAre("MUSTER_CHECKPOINT_NIC=eth0,eth1", "MUSTER_CHECKPOINT_RATE=1073741824",
                          "MUSTER_STAGING_NIC=eth1", "MUSTER_STAGING_DSCP=8"));
}

TEST(NetworkClass, OneOfWhichNothingWasSaidIsEmpty) {
  const NetworkClasses classes = {{.name = kStaging, .nics = {"eth1"}, .dscp = 8}};
  EXPECT_EQ(ClassNamed(classes, kStaging).dscp, 8U);
  EXPECT_EQ(ClassNamed(classes, kCollectives), NetworkClass());
}

}  // namespace
}  // namespace muster::agent
