#include "scheduler/core/place/estimate/gpu_sheet.h"

#include <gtest/gtest.h>

namespace muster::core {
namespace {

TEST(GpuSheet, SheetsAreFoundByTheirNames) {
  const auto sheet = FindGpuSheet("h100");
  ASSERT_TRUE(sheet.has_value());
  EXPECT_EQ(sheet->memory_gib, 80U);
  EXPECT_FALSE(FindGpuSheet("H100").has_value());
  EXPECT_FALSE(FindGpuSheet("").has_value());
}

TEST(GpuSheet, EverySheetIsWholeAndTheyGoBySize) {
  std::uint64_t before = 0;
  for (const GpuSheet& sheet : GpuSheets()) {
    EXPECT_GE(sheet.memory_gib, before) << sheet.name;
    before = sheet.memory_gib;
    EXPECT_GT(sheet.flops, 1e12) << sheet.name;
    EXPECT_GT(sheet.bytes_per_second, 1e11) << sheet.name;
    EXPECT_GT(sheet.watts, 50) << sheet.name;
  }
}

}  // namespace
}  // namespace muster::core
