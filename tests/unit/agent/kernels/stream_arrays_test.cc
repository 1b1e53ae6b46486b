#include "agent/kernels/cpu/stream_arrays.h"

#include <gtest/gtest.h>
#include <omp.h>

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

TEST(NodeRatesTest, EachNodeIsTimedByItsOwnThreads) {
  const std::vector<ThreadSample> samples = {Sample(1, 0.0, 2.0, 500000000),
                                             Sample(0, 0.0, 1.0, 1000000000),
                                             Sample(1, 1.0, 3.0, 500000000)};
  const std::vector<NodeRate> rates = NodeRates(samples, 24);
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_EQ(rates[0].node, 0);
  EXPECT_EQ(rates[0].threads, 1);
  EXPECT_DOUBLE_EQ(rates[0].gb_per_s, 24.0);
  EXPECT_EQ(rates[1].node, 1);
  EXPECT_EQ(rates[1].threads, 2);
  EXPECT_DOUBLE_EQ(rates[1].gb_per_s, 8.0);
  EXPECT_DOUBLE_EQ(Elapsed(samples), 3.0);
  EXPECT_DOUBLE_EQ(TotalRate(samples, 24), 16.0);
}

TEST(StreamOperationsTest, TheTableIsInTheOrderOfTheEnumeration) {
  for (size_t i = 0; i < kStreamOperations.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(kStreamOperations[i].operation), i);
  }
}

// OpenMP's runtime is not instrumented: the thread sanitizer would see races that are not there.
#if defined(__SANITIZE_THREAD__)
constexpr int kTeams[] = {1};
#else
constexpr int kTeams[] = {1, 2, 3, 7};
#endif

TEST(StreamArraysTest, EveryElementIsComputedOnceForOddSizesAndTeams) {
  for (const int team : kTeams) {
    omp_set_num_threads(team);
    for (const int64_t n : {1, 7, 8, 9, 63, 64, 65, 1000, 4097}) {
      for (const StreamOperationFacts& facts : kStreamOperations) {
        StreamArrays arrays(n, 11);
        ASSERT_TRUE(arrays.allocated());
        EXPECT_EQ(arrays.MaxError(facts.operation, 3), std::numeric_limits<double>::infinity())
            << "nothing ran yet";
        int64_t elements = 0;
        for (const ThreadSample& sample : arrays.Run(facts.operation, 3)) {
          EXPECT_GE(sample.end, sample.begin);
          elements += sample.elements;
        }
        EXPECT_EQ(elements, n);
        EXPECT_EQ(arrays.MaxError(facts.operation, 3), 0) << facts.name;
      }
    }
  }
}

TEST(StreamArraysTest, AResultOfAnotherFactorOrOperationDoesNotPass) {
  StreamArrays arrays(1000, 11);
  arrays.Run(StreamOperation::kTriad, 3);
  EXPECT_GT(arrays.MaxError(StreamOperation::kTriad, 4), 0);
  EXPECT_GT(arrays.MaxError(StreamOperation::kAdd, 3), 0);
  EXPECT_GT(arrays.MaxError(StreamOperation::kCopy, 3), 0);
}

}  // namespace
}  // namespace muster::kernels
