#include "agent/link/controller_link.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using std::chrono::milliseconds;

TEST(ControllerLinkTest, WaitingDoublesFromFiftyMillisecondsToFiveSeconds) {
  EXPECT_EQ(BackoffDelay(1, 1.0), milliseconds(50));
  EXPECT_EQ(BackoffDelay(2, 1.0), milliseconds(100));
  EXPECT_EQ(BackoffDelay(7, 1.0), milliseconds(3200));
  EXPECT_EQ(BackoffDelay(8, 1.0), milliseconds(5000));
  EXPECT_EQ(BackoffDelay(4000000000U, 1.0), milliseconds(5000));
}

TEST(ControllerLinkTest, JitterTakesUpToHalfOfIt) {
  EXPECT_EQ(BackoffDelay(1, 0.0), milliseconds(25));
  EXPECT_EQ(BackoffDelay(100, 0.0), milliseconds(2500));
  EXPECT_EQ(BackoffDelay(100, 0.5), milliseconds(3750));
}

}  // namespace
}  // namespace muster::agent
