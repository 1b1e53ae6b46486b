#include "cli/service/lost_replicas.h"

#include <gtest/gtest.h>

#include <chrono>

#include "cli/connect/target.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);

ServiceReplica ReplicaOn(const std::string& node, std::uint16_t port) {
  ServiceReplica replica;
  replica.nodes = {node};
  replica.note = {.state = kReplicaReady, .host = "127.0.0.1", .ports = {{"http", port}}};
  return replica;
}

class LostReplicasTest : public ::testing::Test {
 protected:
  LostReplicasTest() { EXPECT_TRUE(Listen(serves_).ok()); }
  const UniqueFd serves_ = *TakeOnLoopback(0);
  const UniqueFd silent_ = *TakeOnLoopback(0);
};

TEST_F(LostReplicasTest, OnASilentNodeOneThatDoesNotAnswerIsLost) {
  std::vector<ServiceReplica> replicas = {ReplicaOn("n1", PortOf(serves_)),
                                          ReplicaOn("n1", PortOf(silent_)),
                                          ReplicaOn("n2", PortOf(silent_))};
  MarkThoseSilent({"n1"}, kPatience, &replicas);
  EXPECT_FALSE(replicas[0].lost) << "its agent restarts";
  EXPECT_TRUE(replicas[1].lost);
  EXPECT_FALSE(replicas[2].lost) << "the controller hears its node";
}

TEST_F(LostReplicasTest, OneThatHasSaidNothingYetIsLostWithItsNode) {
  std::vector<ServiceReplica> replicas = {ReplicaOn("n1", 0)};
  replicas[0].note = {};
  MarkThoseSilent({"n1"}, kPatience, &replicas);
  EXPECT_TRUE(replicas[0].lost);
}

}  // namespace
}  // namespace muster::cli
