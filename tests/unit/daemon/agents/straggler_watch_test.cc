#include "daemon/agents/straggler_watch.h"

#include <gtest/gtest.h>

#include <chrono>

#include "scheduler/model/view/stragglers.h"

namespace muster::daemon {
namespace {

using std::chrono::seconds;

class StragglerWatchTest : public ::testing::Test {
 protected:
  static Time At(int second) { return Time(seconds(1'000'000 + second)); }
  static StragglersView Slow(std::uint32_t rank, const char* measure = "gpu_clock") {
    StragglersView view;
    view.ranks = 4;
    view.span = seconds(60);
    StragglerView& slow = view.found.emplace_back();
    slow.step = StepId(1);
    slow.rank = rank;
    slow.measure = measure;
    return view;
  }
  [[nodiscard]] Time Since() const { return watch_.Of(job_)->found.at(0).since; }

  StragglerWatchTest() {
    job_.id = JobId(7);
    job_.attempt.emplace().number = first_;
  }
  const AttemptNumber first_{1};
  Job job_;
  StragglerWatch watch_;
};

TEST_F(StragglerWatchTest, AJobIsJudgedNowAndThen) {
  EXPECT_TRUE(watch_.IsDue(job_.id, first_, At(0)));
  EXPECT_EQ(watch_.Of(job_), std::nullopt);
  watch_.Take(job_.id, first_, At(0), Slow(1));
  EXPECT_FALSE(watch_.IsDue(job_.id, first_, At(10))) << "and a little more for its ranks";
  EXPECT_TRUE(watch_.IsDue(job_.id, first_, At(11)));
  EXPECT_TRUE(watch_.IsDue(job_.id, AttemptNumber(2), At(1)));
  StragglersView many = Slow(1);
  many.ranks = 50'000;
  watch_.Take(job_.id, first_, At(11), many);
  EXPECT_FALSE(watch_.IsDue(job_.id, first_, At(60)));
}

TEST_F(StragglerWatchTest, ARankIsSlowerSinceTheMinuteInWhichItWasFoundFirstWithoutABreak) {
  watch_.Take(job_.id, first_, At(100), Slow(1));
  EXPECT_EQ(Since(), At(40));
  watch_.Take(job_.id, first_, At(120), Slow(1));
  EXPECT_EQ(Since(), At(40));
  watch_.Take(job_.id, first_, At(140), Slow(2));
  EXPECT_EQ(Since(), At(80)) << "another rank";
  watch_.Take(job_.id, first_, At(160), Slow(1));
  EXPECT_EQ(Since(), At(100)) << "it was not, in between";
  watch_.Take(job_.id, first_, At(180), Slow(1, "cpu_time"));
  EXPECT_EQ(Since(), At(120)) << "by another measure";
}

TEST_F(StragglerWatchTest, AVerdictIsOfItsAttemptAndOneThatIsNotRenewedGoes) {
  watch_.Take(job_.id, first_, At(0), Slow(1));
  Job other = job_;
  other.attempt->number = AttemptNumber(2);
  EXPECT_EQ(watch_.Of(other), std::nullopt);
  watch_.Take(JobId(8), first_, At(3'000), std::nullopt);
  EXPECT_EQ(watch_.Of(job_), std::nullopt);
}

}  // namespace
}  // namespace muster::daemon
