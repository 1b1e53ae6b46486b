#include "scheduler/core/handle/nodes/forget_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/core/state/invariants.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::Tasks;
using testing::World;

class Forgetting : public ::testing::Test {
 protected:
  Forgetting() { node_ = Register("n1"); }
  NodeId Register(const std::string& name) {
    return world_.Take(RegisterAgent{World::RegistrationOf(name, {})}).node;
  }
  Transition Forget(const std::string& name = "n1") { return world_.Take(ForgetNode{name}); }
  std::string Refusal() { return std::string(Forget().status.message()); }
  World world_;
  NodeId node_;
};

TEST_F(Forgetting, ANodeWhoseAgentIsGoneIsForgottenAndItsIdIsNotGivenOutAgain) {
  world_.Take(LoseAgent{node_, {}});
  const Transition forgotten = Forget();
  ASSERT_TRUE(forgotten.status.ok()) << forgotten.status;
  EXPECT_EQ(world_.state.FindNode("n1"), nullptr);
  EXPECT_TRUE(world_.state.nodes().empty());
  EXPECT_TRUE(world_.state.health().ClassOf(node_).empty());
  EXPECT_EQ(BrokenInvariant(world_.state), std::nullopt);
  EXPECT_EQ(Register("n1"), node_.Next());
}

TEST_F(Forgetting, ANodeWhoseAgentIsConnectedIsNot) {
  EXPECT_THAT(Refusal(), HasSubstr("its agent is connected: stop it"));
}

TEST_F(Forgetting, ANodeOnWhichAJobHoldsResourcesIsNot) {
  world_.Submit(Tasks(1));
  world_.Schedule();
  world_.Take(LoseAgent{node_, {}});
  EXPECT_THAT(Refusal(), HasSubstr("1 job holds resources there"));
}

TEST_F(Forgetting, AnUnknownNodeIsNamed) {
  EXPECT_TRUE(absl::IsNotFound(Forget("n9").status));
  EXPECT_THAT(std::string(Forget("n9").status.message()), HasSubstr("node n9: no such node"));
}

TEST_F(Forgetting, OthersArePlannedOnAsBefore) {
  const NodeId other = Register("n2");
  world_.Take(LoseAgent{node_, {}});
  ASSERT_TRUE(Forget().status.ok());
  const JobId job = world_.Submit(Tasks(1));
  world_.Schedule();
  ASSERT_TRUE(world_.state.FindJob(job)->attempt.has_value());
  EXPECT_EQ(world_.state.FindJob(job)->attempt->allocation.nodes[0].node, other);
}

}  // namespace
}  // namespace muster::core
