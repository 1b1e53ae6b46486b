#include "scheduler/core/handle/nodes/link_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::World;

class LinkHandlersTest : public ::testing::Test {
 protected:
  LinkHandlersTest() {
    world_.config.network = testing::MakeNetwork(4, 2);
    for (const char* name : {"n1", "n2", "n3", "n4"}) {
      world_.AddNode(name);
    }
  }
  Transition Say(const std::string& a, const std::string& b, bool narrow = true,
                 const std::string& reason = "one of two cables") {
    DrainNode command{a, narrow, reason};
    command.link_to = b;
    command.by = world_.ada;
    return world_.Take(command);
  }
  std::string Refusal(const std::string& a, const std::string& b) {
    const Transition refused = Say(a, b);
    EXPECT_TRUE(refused.events.empty());
    return std::string(refused.status.message());
  }
  World world_;
};

TEST_F(LinkHandlersTest, ALinkIsNarrowWithWhoWhenAndWhyUntilItIsResumed) {
  EXPECT_EQ(Say("leaf2", "leaf1").events.size(), 1U);
  ASSERT_EQ(world_.state.narrow_links().all().size(), 1U);
  EXPECT_EQ(world_.state.narrow_links().all()[0],
            (NarrowLink{"leaf1", "leaf2", "one of two cables", "ada", world_.now}));
  EXPECT_TRUE(Say("leaf1", "leaf2").events.empty()) << "it is so already";
  EXPECT_EQ(Say("leaf1", "leaf2", true, "both").events.size(), 1U);
  EXPECT_EQ(Say("leaf1", "leaf2", false, "").events.size(), 1U);
  EXPECT_TRUE(world_.state.narrow_links().all().empty());
  EXPECT_TRUE(Say("leaf1", "leaf2", false, "").status.ok());
}

TEST_F(LinkHandlersTest, AnUnknownSwitchIsNamed) {
  EXPECT_THAT(Refusal("leaf1", "leaf9"), HasSubstr("there is no switch \"leaf9\""));
  EXPECT_THAT(std::string(Say("leaf1", "leaf9", false, "").status.message()),
              HasSubstr("there is no switch \"leaf9\""));
}

TEST_F(LinkHandlersTest, TheSwitchesStandSideBySide) {
  EXPECT_EQ(Refusal("leaf1", "leaf1"),
            "--link: \"leaf1\" is both ends; name two switches side by side");
  EXPECT_EQ(
      Refusal("leaf1", "root"),
      "--link: \"leaf1\" and \"root\": one is above the other; name two switches side by side");
}

TEST_F(LinkHandlersTest, ALinkHasAReasonAndNoTimes) {
  EXPECT_THAT(std::string(Say("leaf1", "leaf2", true, "").status.message()), HasSubstr("--reason"));
  DrainNode command{"leaf1", true, "cable", world_.now + std::chrono::hours(1)};
  command.link_to = "leaf2";
  EXPECT_THAT(std::string(world_.Take(command).status.message()), HasSubstr("--until"));
}

TEST_F(LinkHandlersTest, WithoutSwitchesNoLinkIsNarrowAndOneFromBeforeCanBeResumed) {
  Say("leaf1", "leaf2");
  world_.config.network = nullptr;
  EXPECT_THAT(Refusal("leaf1", "leaf2"), HasSubstr("the controller knows no switches"));
  EXPECT_TRUE(Say("leaf1", "leaf2", false, "").status.ok());
  EXPECT_TRUE(world_.state.narrow_links().all().empty());
}

}  // namespace
}  // namespace muster::core
