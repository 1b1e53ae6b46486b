#include "daemon/store/rows/kept_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/store/job_store.h"
#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

Tuning TuningOf(const std::string& shape, std::uint32_t version, std::int64_t time) {
  return {"gemm", shape, "float32", "a processor, 2 threads", version, "{\"rows\":66}", At(time)};
}

class TuningRowsTest : public ::testing::Test {
 protected:
  TuningRowsTest() : store_(OpenStore(directory_.path()).value()) {}
  void Keep(const Tuning& tuning) {
    Batch batch;
    batch.tunings = {tuning};
    const absl::Status status = store_->Commit({&batch, 1});
    ASSERT_TRUE(status.ok()) << status;
  }
  TempDirectory directory_;
  std::unique_ptr<JobStore> store_;
};

TEST_F(TuningRowsTest, WhatIsKeptIsToldNewestFirstByKernel) {
  Keep(TuningOf("8x8x8", 1, 5));
  Keep(TuningOf("9x9x9", 1, 6));
  EXPECT_THAT(store_->ReadTunings("gemm").value(),
              ::testing::ElementsAre(TuningOf("9x9x9", 1, 6), TuningOf("8x8x8", 1, 5)));
  EXPECT_EQ(store_->ReadTunings("").value().size(), 2U);
  EXPECT_TRUE(store_->ReadTunings("stream").value().empty());
}

TEST_F(TuningRowsTest, ANewerVersionTakesAnOlderOnesPlaceAndNotTheOtherWayRound) {
  Keep(TuningOf("8x8x8", 1, 5));
  Keep(TuningOf("8x8x8", 2, 6));
  Keep(TuningOf("8x8x8", 1, 7));
  EXPECT_THAT(store_->ReadTunings("gemm").value(), ::testing::ElementsAre(TuningOf("8x8x8", 2, 6)));
}

class NoteRowsTest : public TuningRowsTest {
 protected:
  void Say(JobId job, const JobNote& note) {
    Batch batch;
    batch.notes = {{job, note}};
    const absl::Status status = store_->Commit({&batch, 1});
    ASSERT_TRUE(status.ok()) << status;
  }
};

TEST_F(NoteRowsTest, ANoteIsKeptUnderItsNameUntilAnEmptyOneTakesItAway) {
  const JobNote seen{"Comment", "seen", "ada", At(5)};
  const JobNote used{"AdminComment", "gpu 3 %", "root", At(6)};
  Say(JobId(7), seen);
  Say(JobId(7), used);
  Say(JobId(9), seen);
  EXPECT_THAT(
      store_->ReadNotes(JobId(7), JobId(8)).value(),
      ::testing::ElementsAre(::testing::Pair(JobId(7), ::testing::ElementsAre(used, seen))));
  Say(JobId(7), {"Comment", "seen twice", "bob", At(7)});
  EXPECT_EQ(store_->ReadNotes(JobId(7), JobId(7)).value()[JobId(7)][1].text, "seen twice");
  Say(JobId(7), {"Comment", "", "bob", At(8)});
  EXPECT_THAT(store_->ReadNotes(JobId(7), JobId(7)).value()[JobId(7)],
              ::testing::ElementsAre(used));
}

}  // namespace
}  // namespace muster::daemon
