#include "daemon/client/views/checkpoint_views.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

namespace muster::daemon {
namespace {

// Of four nodes, of which one reported a checkpoint.
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
  alone.runs[2].checkpoints.cost = Duration(0);  // less than a millisecond
  EXPECT_EQ(IntervalText(alone), "every 90 s (Daly: cost 0 s measured, nothing known of failures)");
}

TEST(CheckpointViews, EachLevelComesWithItsReason) {
  Attempt attempt = Saved();
  attempt.advice.mtbf = std::chrono::hours(8);
  attempt.advice.loss_mtbf = std::chrono::hours(26);
  CheckpointRecord& record = attempt.runs[2].checkpoints;
  record.cost = std::chrono::seconds(2);
  record.interval = std::chrono::minutes(3);
  record.flush = std::chrono::seconds(40);
  record.copy_every = 4;
  const std::string first =
      "every 3 min on the node (Daly: cost 2 s measured, one failure in 8 h on 4 nodes), ";
  EXPECT_EQ(IntervalText(attempt), first +
                                       "every 4th to the shared directory (copied in 40 s, one "
                                       "loss of a node in 26 h)");
  for (const auto& [number, text] : std::map<std::uint32_t, std::string>{{1, "each"},
                                                                         {2, "every 2nd"},
                                                                         {3, "every 3rd"},
                                                                         {11, "every 11th"},
                                                                         {21, "every 21st"},
                                                                         {112, "every 112th"},
                                                                         {122, "every 122nd"}}) {
    record.copy_every = number;
    EXPECT_EQ(IntervalText(attempt), first + text +
                                         " to the shared directory (copied in 40 s, one "
                                         "loss of a node in 26 h)");
  }
}

TEST(CheckpointViews, WhatEarlierAttemptsMeasuredSaysSo) {
  Attempt attempt = Saved();
  attempt.advice.cost = std::chrono::seconds(3);
  attempt.advice.flush = std::chrono::seconds(12);
  attempt.advice.loss_mtbf = std::chrono::hours(45);
  CheckpointRecord& record = attempt.runs[2].checkpoints;
  record.count = 0;
  record.copy_every = 2;
  EXPECT_EQ(
      IntervalText(attempt),
      "every 18 min on the node (Daly: cost 3 s measured before, one failure in 37 h on 4 "
      "nodes), every 2nd to the shared directory (copied in 12 s, one loss of a node in 45 h)");
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
}  // namespace muster::daemon
