#include "agent/supervisor/checkpoint/progress_watch.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace muster::agent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class ProgressWatchTest : public ::testing::Test {
 protected:
  // What the watch says after so long with the sign as it is.
  std::optional<std::string> After(Duration time, bool frozen = false) {
    now_ += time;
    return watch_.Look(sign_, now_, frozen);
  }

  ProgressWatch watch_{minutes(10)};
  ProgressSign sign_;
  SteadyTime now_{std::chrono::hours(1)};
};

TEST_F(ProgressWatchTest, SilenceForTheLimitIsAHang) {
  EXPECT_EQ(After(seconds(0)), std::nullopt);
  EXPECT_EQ(After(minutes(9)), std::nullopt);
  EXPECT_EQ(After(minutes(1)), "no progress for 10 min (limit 10 min)");
}

TEST_F(ProgressWatchTest, ItIsSaidOnce) {
  After(seconds(0));
  EXPECT_NE(After(minutes(11)), std::nullopt);
  EXPECT_EQ(After(minutes(11)), std::nullopt);
}

TEST_F(ProgressWatchTest, AnyChangeOfTheSignIsProgress) {
  After(seconds(0));
  for (const ProgressSign& next :
       {ProgressSign{1, 0, 0, 0}, ProgressSign{1, 1, 0, 0}, ProgressSign{1, 1, 1, 0},
        ProgressSign{1, 1, 1, 1}, ProgressSign{}}) {
    EXPECT_EQ(After(minutes(9)), std::nullopt);
    sign_ = next;
    EXPECT_EQ(After(minutes(2)), std::nullopt);
  }
  EXPECT_NE(After(minutes(10)), std::nullopt);
}

TEST_F(ProgressWatchTest, AStartThatGetsNowhereEndsToo) {
  After(seconds(0));
  EXPECT_NE(After(minutes(10)), std::nullopt) << "no sign has ever been seen";
}

TEST_F(ProgressWatchTest, SuspendedTimeDoesNotCount) {
  After(seconds(0));
  EXPECT_EQ(After(minutes(9)), std::nullopt);
  EXPECT_EQ(After(minutes(60), true), std::nullopt);
  EXPECT_EQ(After(seconds(59)), std::nullopt);
  EXPECT_NE(After(seconds(1)), std::nullopt);
}

TEST_F(ProgressWatchTest, ALongTimeIsLookedAtNowAndThen) {
  EXPECT_EQ(ProgressWatch(minutes(10)).interval(), seconds(5));
  EXPECT_EQ(ProgressWatch(seconds(20)).interval(), seconds(1));
  EXPECT_EQ(ProgressWatch(Duration(10)).interval(), Duration(50));
}

TEST(SignOfFile, ChangesWithItsContentAndNotWithoutIt) {
  const std::string path = ::testing::TempDir() + "/progress-sign";
  std::remove(path.c_str());
  EXPECT_EQ(SignOfFile(path), ProgressSign());
  std::ofstream(path) << "step 1\n";
  const ProgressSign first = SignOfFile(path);
  EXPECT_NE(first, ProgressSign());
  EXPECT_EQ(SignOfFile(path), first);
  std::ofstream(path, std::ios::app) << "step 2\n";
  EXPECT_NE(SignOfFile(path), first);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace muster::agent
