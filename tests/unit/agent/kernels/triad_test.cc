#include "agent/kernels/cpu/triad.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace muster::kernels {
namespace {

ThreadSample Sample(int node, double begin, double end, int64_t elements) {
  ThreadSample sample;
  sample.after.node = node;
  sample.begin = begin;
  sample.end = end;
  sample.elements = elements;
  return sample;
}

TEST(TriadLoopTest, ComputesTheHandWorkedCase) {
  alignas(64) std::array<double, 3> a = {-1, -1, -1};
  alignas(64) const std::array<double, 3> b = {1, 2, 3};
  alignas(64) const std::array<double, 3> c = {10, 20, 0.5};
  TriadLoop(a.data(), b.data(), c.data(), 4, 2);
  EXPECT_EQ(a[0], 41);
  EXPECT_EQ(a[1], 82);
  EXPECT_EQ(a[2], -1) << "the third element was not asked for";
}

TEST(NodeRatesTest, EachNodeIsTimedByItsOwnThreads) {
  const std::vector<ThreadSample> samples = {Sample(1, 0.0, 2.0, 500000000),
                                             Sample(0, 0.0, 1.0, 1000000000),
                                             Sample(1, 1.0, 3.0, 500000000)};
  const std::vector<NodeRate> rates = NodeRates(samples);
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_EQ(rates[0].node, 0);
  EXPECT_EQ(rates[0].threads, 1);
  EXPECT_DOUBLE_EQ(rates[0].gb_per_s, 24.0);
  EXPECT_EQ(rates[1].node, 1);
  EXPECT_EQ(rates[1].threads, 2);
  EXPECT_DOUBLE_EQ(rates[1].gb_per_s, 8.0);
  EXPECT_DOUBLE_EQ(Elapsed(samples), 3.0);
  EXPECT_DOUBLE_EQ(TotalRate(samples), 16.0);
}

// OpenMP's runtime is not instrumented: the thread sanitizer would see races that are not there.
#if defined(__SANITIZE_THREAD__)
constexpr int kTeams[] = {1};
#else
constexpr int kTeams[] = {1, 2, 3, 7};
#endif

TEST(TriadTest, EveryElementIsComputedOnceForOddSizesAndTeams) {
  for (const int team : kTeams) {
    omp_set_num_threads(team);
    for (const int64_t n : {1, 7, 8, 9, 63, 64, 65, 1000, 4097}) {
      Triad triad(n, 11);
      ASSERT_TRUE(triad.allocated());
      EXPECT_EQ(triad.MaxError(3), std::numeric_limits<double>::infinity()) << "nothing ran yet";
      int64_t elements = 0;
      for (const ThreadSample& sample : triad.Run(3)) {
        EXPECT_GE(sample.end, sample.begin);
        elements += sample.elements;
      }
      EXPECT_EQ(elements, n);
      EXPECT_EQ(triad.MaxError(3), 0);
      EXPECT_GT(triad.MaxError(4), 0) << "a result of another factor must not pass";
    }
  }
}

}  // namespace
}  // namespace muster::kernels
