// The Lublin-Feitelson model against what its authors' program gave.
//
// The reference: 10,000 jobs for 256 processors by the authors' program with the same parameters
// (lublin_256.swf of github DIR-LAB/deep-batch-scheduler): 24.9 % serial, 61.2 % powers of two,
// mean size 22.1, run time quartiles 21, 137 and 8270 s, mean 4863 s, median gap 116 s. The middle
// stage there is log2(256) - 2.5 too. The bounds are some four standard errors of 10,000 jobs wide.

#include "scheduler/simulator/workload/lublin_model.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::sim {
namespace {

std::vector<TraceRecord> Draw(const LublinOptions& options, int jobs) {
  LublinModel model(options);
  std::vector<TraceRecord> records;
  for (int i = 0; i < jobs; ++i) {
    records.push_back(model.Next());
  }
  return records;
}

LublinOptions Machine(std::int64_t processors, std::uint64_t seed) {
  return {.processors = processors, .seed = seed, .gap_factor = 1, .mix = {}};
}

double LoadOf(const std::vector<TraceRecord>& records, double processors) {
  double work = 0;
  for (const TraceRecord& record : records) {
    work += static_cast<double>(record.run_time) * static_cast<double>(record.requested);
  }
  return work / processors / static_cast<double>(records.back().submit - records.front().submit);
}

TEST(LublinModel, SizesAndRunTimesAreThoseOfTheAuthors) {
  std::vector<TraceRecord> records = Draw(Machine(256, 5), 10'000);
  double serial = 0;
  double powers = 0;
  double size = 0;
  for (const TraceRecord& record : records) {
    const std::int64_t n = record.requested;
    ASSERT_GE(n, 1);
    ASSERT_LE(n, 256);
    ASSERT_GE(record.run_time, 1);
    serial += n == 1 ? 1 : 0;
    powers += n > 1 && (n & (n - 1)) == 0 ? 1 : 0;
    size += static_cast<double>(n);
  }
  EXPECT_NEAR(serial / 10'000, 0.249, 0.02);
  EXPECT_NEAR(powers / 10'000, 0.612, 0.02);
  EXPECT_NEAR(size / 10'000, 22.1, 2);
  std::sort(records.begin(), records.end(),
            [](const TraceRecord& a, const TraceRecord& b) { return a.run_time < b.run_time; });
  EXPECT_NEAR(static_cast<double>(records[2'500].run_time), 21, 4);
  EXPECT_NEAR(static_cast<double>(records[5'000].run_time), 137, 35);
  EXPECT_NEAR(static_cast<double>(records[7'500].run_time), 8'270, 700);
}

TEST(LublinModel, ArrivalsFollowTheDay) {
  const std::vector<TraceRecord> records = Draw(Machine(256, 9), 10'000);
  std::vector<std::int64_t> gaps;
  std::vector<int> hours(24);
  for (std::size_t i = 1; i < records.size(); ++i) {
    ASSERT_GE(records[i].submit, records[i - 1].submit);
    gaps.push_back(records[i].submit - records[i - 1].submit);
    ++hours[static_cast<std::size_t>(records[i].submit / 3600 % 24)];
  }
  std::sort(gaps.begin(), gaps.end());
  EXPECT_NEAR(static_cast<double>(gaps[gaps.size() / 2]), 116, 15);
  EXPECT_GT(hours[12], 4 * hours[4]) << "there: 884 at noon, 85 at four";
}

TEST(LublinModel, TheSameSeedGivesTheSameJobsAndALoadIsReached) {
  LublinOptions options = Machine(64, 3);
  const std::vector<TraceRecord> one = Draw(options, 500);
  const std::vector<TraceRecord> again = Draw(options, 500);
  for (std::size_t i = 0; i < one.size(); ++i) {
    ASSERT_EQ(one[i].submit, again[i].submit);
    ASSERT_EQ(one[i].run_time, again[i].run_time);
  }
  options.gap_factor = GapFactorForLoad(options, 5'000, 0.7);
  EXPECT_NEAR(LoadOf(Draw(options, 5'000), 64), 0.7, 0.02);
  options.mix = {one[0], one[1]};
  for (const TraceRecord& record : Draw(options, 50)) {
    EXPECT_TRUE(record.run_time == one[0].run_time || record.run_time == one[1].run_time);
  }
}

}  // namespace
}  // namespace muster::sim
