#include "daemon/checkpoint_views.h"

#include <gtest/gtest.h>

#include <chrono>

namespace muster {
namespace {

// Of four nodes, of which one told of a checkpoint.
Attempt Saved() {
  Attempt attempt;
  attempt.advice.mtbf = std::chrono::hours(37);
  attempt.allocation.nodes.resize(4);
  attempt.runs.resize(4);
  CheckpointRecord& record = attempt.runs[2].checkpoints;
  record.count = 3;
  record.cost = Duration(4200);
  record.interval = std::chrono::minutes(18);
  return attempt;
}

TEST(CheckpointViews, TheIntervalComesWithItsReason) {
  EXPECT_EQ(IntervalText(Saved()),
            "every 18 min (Daly: cost 4.2 s measured, one failure in 37 h on 4 nodes)");
  Attempt first = Saved();
  first.runs[2].checkpoints.count = 0;
  EXPECT_EQ(IntervalText(first),
            "every 18 min until one has shown its cost (one failure in 37 h on 4 nodes)");
  Attempt alone = Saved();
  alone.runs.resize(3);
  alone.allocation.nodes.resize(1);
  alone.advice.mtbf = std::chrono::hours(50'000);
  alone.runs[2].checkpoints.cost = Duration(3);
  alone.runs[2].checkpoints.interval = std::chrono::seconds(90);
  EXPECT_EQ(IntervalText(alone),
            "every 90 s (Daly: cost 0.003 s measured, one failure in 2083 d on 1 node)");
  alone.advice.mtbf = Duration(0);
  EXPECT_EQ(IntervalText(alone),
            "every 90 s (Daly: cost 0.003 s measured, nothing known of failures)");
}

TEST(CheckpointViews, WhoToldOfNothingIsAdvisedNothing) {
  Attempt attempt = Saved();
  attempt.runs[2].checkpoints = CheckpointRecord();
  EXPECT_EQ(IntervalText(attempt), "");
}

TEST(CheckpointViews, AnIntervalThatWasAskedForSaysSo) {
  EXPECT_EQ(IntervalText({"A=1", "MUSTER_CHECKPOINT_INTERVAL=900"}, "why"),
            "every 15 min, as asked");
  EXPECT_EQ(IntervalText({"MUSTER_CHECKPOINT_INTERVAL=auto"}, "why"), "why");
  EXPECT_EQ(IntervalText({"MUSTER_CHECKPOINT_INTERVAL=often"}, "why"), "");
  EXPECT_EQ(IntervalText({"A=1"}, "why"), "");
}

}  // namespace
}  // namespace muster
