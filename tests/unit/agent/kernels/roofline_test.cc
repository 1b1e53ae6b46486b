#include "agent/kernels/harness/roofline.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>
#include <fstream>

namespace muster::kernels {
namespace {

constexpr Peaks kPeaks = {.flop_per_s = 100e9, .bytes_per_s = 10e9};

TEST(StandingTest, FewOperationsAByteAreBoundByMemory) {
  const RooflinePoint point = RooflinePointOf(1e9, 10e9, 2, kPeaks);
  EXPECT_EQ(point.bound, Bound::kMemory);
  EXPECT_DOUBLE_EQ(point.floor_seconds, 1);
  EXPECT_DOUBLE_EQ(point.share, 0.5);
}

TEST(StandingTest, ManyOperationsAByteAreBoundByArithmetic) {
  const RooflinePoint point = RooflinePointOf(400e9, 10e9, 5, kPeaks);
  EXPECT_EQ(point.bound, Bound::kCompute);
  EXPECT_DOUBLE_EQ(point.floor_seconds, 4);
  EXPECT_DOUBLE_EQ(point.share, 0.8);
}

TEST(StandingTest, UnknownPeaksBoundNothing) {
  EXPECT_EQ(RooflinePointOf(1e9, 1e9, 1, {}).bound, Bound::kUnknown);
  EXPECT_EQ(RooflinePointOf(0, 0, 1, kPeaks).bound, Bound::kUnknown);
}

TEST(StandingTest, TheFloorIsTheLargerOfBothTimes) {
  EXPECT_TRUE(rc::check("any work", [] {
    const double flop = *rc::gen::inRange(1, 1000000) * 1e6;
    const double bytes = *rc::gen::inRange(1, 1000000) * 1e6;
    const RooflinePoint point = RooflinePointOf(flop, bytes, 1, kPeaks);
    RC_ASSERT(point.floor_seconds >= flop / kPeaks.flop_per_s);
    RC_ASSERT(point.floor_seconds >= bytes / kPeaks.bytes_per_s);
  }));
}

TEST(PeaksFileTest, LiesInTheCacheOfTheUser) {
  EXPECT_EQ(PeaksFile("/c", "/home/u", "n1"), "/c/muster/peaks-n1.json");
  EXPECT_EQ(PeaksFile("", "/home/u", "n1"), "/home/u/.cache/muster/peaks-n1.json");
  EXPECT_EQ(PeaksFile("relative", "/home/u", "n1"), "/home/u/.cache/muster/peaks-n1.json");
  EXPECT_EQ(PeaksFile("", "", "n1"), "");
}

class CachedPeaksTest : public ::testing::Test {
 protected:
  // A folder of each test's own: tests run in parallel.
  CachedPeaksTest()
      : folder_(::testing::TempDir() + "/peaks_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()),
        file_(folder_ + "/muster/peaks.json") {
    std::filesystem::remove_all(folder_);
  }
  ~CachedPeaksTest() override { std::filesystem::remove_all(folder_); }

  Peaks Cached(const std::string& key) {
    return CachedPeaks(file_, key, [this] {
      ++measured_;
      return kPeaks;
    });
  }

  std::string folder_;
  std::string file_;
  int measured_ = 0;
};

TEST_F(CachedPeaksTest, AreMeasuredOncePerKey) {
  EXPECT_EQ(Cached("a").bytes_per_s, kPeaks.bytes_per_s);
  EXPECT_EQ(Cached("a").flop_per_s, kPeaks.flop_per_s);
  EXPECT_EQ(measured_, 1);
  Cached("b");
  EXPECT_EQ(measured_, 2);
  Cached("a");
  EXPECT_EQ(measured_, 2);
}

TEST_F(CachedPeaksTest, ARaisedPeakStaysAndALowerOneChangesNothing) {
  Cached("a");
  RaisePeaks(file_, "a", {.flop_per_s = 50e9, .bytes_per_s = 12e9});
  EXPECT_EQ(Cached("a").flop_per_s, 100e9);
  EXPECT_EQ(Cached("a").bytes_per_s, 12e9);
}

TEST_F(CachedPeaksTest, ADamagedFileIsMeasuredAnew) {
  Cached("a");
  for (const char* text : {"", "{", "[1]", R"({"a": 3})", R"({"a": {"bytes_per_s": "x"}})"}) {
    std::ofstream(file_) << text;
    const int before = measured_;
    EXPECT_EQ(Cached("a").bytes_per_s, kPeaks.bytes_per_s) << text;
    EXPECT_EQ(measured_, before + 1) << text;
  }
}

TEST_F(CachedPeaksTest, NowhereToKeepThemCostsAMeasurementEachTime) {
  file_ = "";
  Cached("a");
  Cached("a");
  EXPECT_EQ(measured_, 2);
  file_ = "/proc/nowhere/peaks.json";
  EXPECT_EQ(Cached("a").bytes_per_s, kPeaks.bytes_per_s);
}

}  // namespace
}  // namespace muster::kernels
