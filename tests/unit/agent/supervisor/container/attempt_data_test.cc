#include "agent/supervisor/container/attempt_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/agent/supervisor/attempt_steps_fixture.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

class AttemptDataTest : public AttemptStepsFixture {};

TEST_F(AttemptDataTest, AJobWithoutDataHasAllThatItWants) {
  SupervisorOrder order = order_;
  EXPECT_TRUE(AttemptData(*loop_, log_, directory_, order).here());
}

TEST_F(AttemptDataTest, ANodeWithoutTheProgramsSaysWhatItLacks) {
  SupervisorOrder order = order_;
  order.launch.spec.node_data = {"/archive/x"};
  AttemptData data(*loop_, log_, directory_, order);
  EXPECT_FALSE(data.here());
  std::vector<std::string> answers;
  data.Bring(0, nullptr, nullptr, -1,
             [&answers](const absl::Status& status) { answers.emplace_back(status.message()); });
  EXPECT_TRUE(answers.empty()) << "it comes from the loop";
  ASSERT_TRUE(TurnUntil([&answers] { return !answers.empty(); }));
  EXPECT_THAT(answers[0], HasSubstr("this node makes no copies of data: install muster"));
  EXPECT_FALSE(data.here());
  EXPECT_EQ(order.staged, "");
}

TEST(AttemptData, TheCacheIsAboveTheDirectoriesOfAttempts) {
  EXPECT_EQ(CacheOfStaged("/state/staged/1000/run/7.1.0"), "/state/staged/1000");
}

}  // namespace
}  // namespace muster::agent
