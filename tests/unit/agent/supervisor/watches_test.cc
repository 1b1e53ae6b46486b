// What ends an attempt that would run on: the end of its lease, and that it makes no progress.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "tests/unit/agent/supervisor/attempt_fixture.h"
#include "tests/unit/agent/supervisor/control_client.h"

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class WatchesTest : public AttemptFixture {
 protected:
  void Begin() {
    Start();
    ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  }
  RunEnded End() {
    EXPECT_EQ(Wait(), 0);
    const std::vector<RunEnded> ends = Facts<RunEnded>();
    EXPECT_EQ(ends.size(), 1U);
    return ends.empty() ? RunEnded() : ends.front();
  }
  void Elastic(milliseconds lease) {
    order_.launch.spec.elastic = true;
    const auto until = SystemClock().SteadyNow().time_since_epoch() + lease;
    order_.lease_until_ms = std::chrono::floor<milliseconds>(until).count();
  }
};

TEST_F(WatchesTest, APartWhoseLeaseIsOverEndsWithAllThatItStarted) {
  Batch(
      "(setsid sh -c 'trap \"\" TERM; while :; do echo x >> away; sleep 0.01; done' &) &\n"
      "trap '' TERM\nwhile :; do sleep 0.01; done");
  Elastic(milliseconds(1000));
  Start();
  const RunEnded end = End();
  EXPECT_EQ(end.cause, EndCause::kNodeLostRecord);
  EXPECT_THAT(end.text, HasSubstr("did not hear from the controller for 15 s"));
  const std::size_t written = Slurp(work_ / "away").size();
  Pause();
  EXPECT_EQ(Slurp(work_ / "away").size(), written) << "something runs on";
}

TEST_F(WatchesTest, APartWhoseLeaseIsRenewedRunsOn) {
  Batch("while [ ! -e done ]; do sleep 0.01; done");
  Elastic(milliseconds(3000));
  Begin();
  ASSERT_TRUE(SendLease(directory_, SystemClock().SteadyNow() + hours(1)).ok());
  for (int i = 0; i < 700; ++i) {
    Pause();
  }
  EXPECT_TRUE(Facts<RunEnded>().empty());
  std::ofstream(work_ / "done") << "done\n";
  EXPECT_EQ(End().cause, EndCause::kExited);
}

TEST_F(WatchesTest, AJobThatIsNotElasticHasNoLease) {
  Batch("sleep 0.5");
  EXPECT_EQ(RunToEnd().cause, EndCause::kExited);
}

TEST_F(WatchesTest, AJobWithoutProgressIsEnded) {
  order_.launch.spec.kill_grace = milliseconds(100);
  order_.launch.spec.progress_timeout = milliseconds(400);
  Batch("while :; do sleep 0.01; done");
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kHung);
  EXPECT_THAT(end.text, StartsWith("no progress for "));
  EXPECT_THAT(end.text, HasSubstr("(limit 0.4 s)"));
}

TEST_F(WatchesTest, AFileThatChangesIsProgress) {
  order_.launch.spec.progress_timeout = milliseconds(3000);
  order_.launch.program.progress_path = "steps-%j";
  Batch("for i in 1 2 3 4 5 6 7 8; do echo $i >>steps-7; sleep 0.5; done");
  EXPECT_EQ(RunToEnd().cause, EndCause::kExited);
}

TEST_F(WatchesTest, TheAttemptsOwnFileMayBeTouched) {
  order_.launch.spec.progress_timeout = milliseconds(3000);
  Batch("for i in 1 2 3 4 5 6 7 8; do touch \"$MUSTER_PROGRESS_FILE\"; sleep 0.5; done");
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kExited) << end.text;
  EXPECT_TRUE(end.status.success()) << Output();
}

TEST_F(WatchesTest, SuspendedTimeIsNoHang) {
  order_.launch.spec.progress_timeout = milliseconds(3000);
  Batch("sleep 0.1\necho 1 >\"$MUSTER_PROGRESS_FILE\"\n[ -e done ] || sleep 0.2");
  Begin();
  SuspendOrder order;
  order.job = JobId(7);
  order.attempt = AttemptNumber(1);
  order.suspension = 1;
  ASSERT_TRUE(SendSuspend(directory_, order).ok());
  ASSERT_TRUE(Eventually([&] { return !Facts<RunSuspended>().empty(); }));
  for (int i = 0; i < 700; ++i) {
    Pause();
  }
  EXPECT_TRUE(Facts<RunEnded>().empty());
  order.suspension = 2;
  order.resume = true;
  ASSERT_TRUE(SendSuspend(directory_, order).ok());
  EXPECT_EQ(End().cause, EndCause::kExited);
}

}  // namespace
}  // namespace muster::agent
