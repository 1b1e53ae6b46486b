#include "agent/node/pace/gpu_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;

GpuWork Work(int ms, std::optional<Bytes> nvlink = std::nullopt) {
  return {Duration(ms), Duration(ms / 2), Duration(ms / 4), Duration(ms / 10), nvlink, {}};
}

TEST(GpuRecordTest, WhatIsWrittenIsReadAndGoesIntoTheEnd) {
  const TempDirectory directory;
  GpuRecord record;
  record.Add({1, 3}, Work(1000, Bytes(70)));
  record.Add({1, 3}, Work(3000));
  record.AddErrors({"rank 3 met XID 31", "rank 3 met XID 79"});
  record.AddErrors({"rank 3 met XID 79"});
  WriteGpuRecord(directory / "gpus", record);
  EXPECT_EQ(ReadGpuRecord(directory / "gpus"), record);
  RunEnded end;
  record.AddTo(end);
  ASSERT_EQ(end.gpu_work.size(), 1U);
  EXPECT_EQ(end.gpu_work[0].step, StepId(1));
  EXPECT_EQ(end.gpu_work[0].rank, 3U);
  EXPECT_EQ(end.gpu_work[0].work.counted, Duration(4000));
  EXPECT_EQ(end.gpu_work[0].work.sm_active, Duration(2000));
  EXPECT_EQ(end.gpu_work[0].work.nvlink_bytes, Bytes(70));
  EXPECT_EQ(end.gpu_work[0].work.pcie_bytes, std::nullopt);
  EXPECT_THAT(end.gpu_errors, ElementsAre("rank 3 met XID 31", "rank 3 met XID 79"));
}

TEST(GpuRecordTest, WhatIsNoRecordIsAnEmptyOne) {
  const TempDirectory directory;
  EXPECT_EQ(ReadGpuRecord(directory / "none"), GpuRecord());
  std::ofstream(directory / "gpus") << "\xff\xff";
  EXPECT_EQ(ReadGpuRecord(directory / "gpus"), GpuRecord());
}

TEST(GpuRecordTest, OfManyStepsTheNewestAreKeptAndTheScript) {
  GpuRecord record;
  record.Add({0, 0}, Work(1000));
  for (std::uint32_t step = 1; step <= GpuRecord::kRanksMost + 10; ++step) {
    record.Add({step, 0}, Work(1000));
  }
  EXPECT_EQ(record.work.size(), GpuRecord::kRanksMost);
  EXPECT_EQ(record.work.count({0, 0}), 1U);
  EXPECT_EQ(record.work.count({1, 0}), 0U);
  EXPECT_EQ(record.work.count({GpuRecord::kRanksMost + 10, 0}), 1U);
}

}  // namespace
}  // namespace muster::agent
