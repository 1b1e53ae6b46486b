#include "cli/sheet/checkpoint_table.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/render/samples.h"

namespace muster::cli {
namespace {

using std::chrono::seconds;

const CheckpointTotals kTotals{3, seconds(1000), seconds(12), seconds(8), seconds(62)};

TEST(CheckpointTable, TheEffectiveShareIsWhatWasKeptOfWhatWasHeld) {
  EXPECT_DOUBLE_EQ(EffectiveShare(kTotals).value(), 0.918);
  EXPECT_EQ(EffectiveShare(CheckpointTotals()), std::nullopt);
  CheckpointTotals odd = kTotals;
  odd.lost = seconds(2000);
  EXPECT_EQ(EffectiveShare(odd), 0);
}

TEST(CheckpointTable, AJobsLineSaysWhatItCostAndNothingWhereThereIsNothing) {
  EXPECT_EQ(CheckpointText(CheckpointTotals(), seconds(100)), "");
  EXPECT_EQ(
      CheckpointText(kTotals, Duration(0)),
      "3 checkpoints, 0:12.00 stood still, 0:08.00 until it was back, 1:02 lost; 91.8 % effective");
  CheckpointTotals first;
  first.count = 1;
  first.stall = seconds(1);
  EXPECT_EQ(CheckpointText(first, seconds(100)),
            "1 checkpoint, 0:01.00 stood still; 99.0 % effective");
}

TEST(CheckpointTable, AnAttemptsLineSaysWhatIsSafe) {
  AttemptView attempt;
  EXPECT_EQ(CheckpointText(attempt, Style()), "");
  attempt.lost = seconds(31);
  EXPECT_EQ(CheckpointText(attempt, Style()), "none; 0:31.00 lost");
  attempt.checkpoints.slow = seconds(12);
  EXPECT_EQ(CheckpointText(attempt, Style()), "safe within 0:12.00 of its warning; 0:31.00 lost");
  attempt.checkpoints.slow = seconds(0);
  attempt.checkpoints.count = 2;
  attempt.checkpoints.committed = Time(seconds(1'773'480'413));
  attempt.checkpoints.cost = Duration(4200);
  attempt.checkpoints.bytes = kGibibyte * 12;
  EXPECT_EQ(CheckpointText(attempt, Style()),
            "2, the newest at 2026-03-14 09:26:53, 0:04.20 each, 12 GiB; 0:31.00 lost");
}

TEST(CheckpointTable, HistoryHasALineForEachJob) {
  JobView job = samples::HistoryJobs()[1];
  job.checkpoints = kTotals;
  job.restarts = 2;
  const std::string page = PrintCheckpoints({job}, TableChoice(), Style());
  EXPECT_NE(page.find("EFFECTIVE"), std::string::npos);
  EXPECT_NE(page.find("91.8 %"), std::string::npos);
  EXPECT_NE(page.find("16:40"), std::string::npos);
  EXPECT_EQ(PrintCheckpoints({}, {.header = false}, Style()), "");
}

}  // namespace
}  // namespace muster::cli
