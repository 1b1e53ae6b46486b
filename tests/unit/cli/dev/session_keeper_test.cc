#include "cli/dev/session_keeper.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

// What belongs into a job, outside of one; tests/integration/dev_test.py has it inside.
class SessionKeeperTest : public ::testing::Test {
 protected:
  Invocation Invoked() {
    return {.environment = environment_, .verbs = verbs_, .values = {}, .arguments = {}};
  }

  const std::vector<Verb> verbs_;
  const Environment environment_{{"PATH=/bin"}};
};

TEST_F(SessionKeeperTest, KeepsNothingOutsideAJob) {
  EXPECT_TRUE(absl::IsFailedPrecondition(KeepSession(Invoked(), {}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(AwaitDoor(Invoked()).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(EnterSession(Invoked(), {"/bin/sh"}).status()));
}

}  // namespace
}  // namespace muster::cli
