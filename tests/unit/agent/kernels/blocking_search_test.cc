#include "agent/kernels/cpu/blocking_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <tuple>

namespace muster::kernels {
namespace {

constexpr Blocking kFirst = {120, 256, 4096};

// Fastest at 66 rows, a depth of 384 and 1,024 columns.
double Valley(const Blocking& blocking) {
  const auto away = [](int64_t size, double best) {
    return std::abs(std::log2(static_cast<double>(size) / best));
  };
  return 0.01 *
         (1 + away(blocking.rows, 66) + away(blocking.depth, 384) + away(blocking.columns, 1024));
}

TEST(BlockingSearch, FindsTheBottomOfAValley) {
  const BlockingSearch found =
      SearchBlocking(kFirst, 100, [](const Blocking& blocking) { return Valley(blocking); });
  EXPECT_EQ(found.best.rows, 66);
  EXPECT_EQ(found.best.depth, 384);
  EXPECT_EQ(found.best.columns, 1024);
  EXPECT_LT(found.seconds, found.first_seconds);
  EXPECT_EQ(found.rejected, 0);
}

TEST(BlockingSearch, KeepsToItsBudget) {
  const BlockingSearch found =
      SearchBlocking(kFirst, 0.2, [](const Blocking& blocking) { return Valley(blocking); });
  EXPECT_LT(found.spent, 0.2 + 2 * 0.1 + 10 * 0.1) << "the last try, and the last turns";
  EXPECT_GE(found.tried, 1);
}

TEST(BlockingSearch, WhatComputesWrongIsNeverChosenHoweverFast) {
  const BlockingSearch found =
      SearchBlocking(kFirst, 100, [](const Blocking& blocking) -> std::optional<double> {
        return blocking.depth == 384 ? std::nullopt : std::optional(Valley(blocking));
      });
  EXPECT_NE(found.best.depth, 384);
  EXPECT_GT(found.rejected, 0);
}

TEST(BlockingSearch, WhatIsNotWorthItStaysAsTheRuleSays) {
  const BlockingSearch found = SearchBlocking(kFirst, 100, [](const Blocking& blocking) {
    return blocking.rows == kFirst.rows ? 1.0 : 0.995;
  });
  EXPECT_EQ(found.best.rows, kFirst.rows);
}

TEST(BlockingSearch, EachChoiceIsTriedOnce) {
  std::map<std::tuple<int64_t, int64_t, int64_t>, int> runs;
  const BlockingSearch found = SearchBlocking(kFirst, 100, [&](const Blocking& blocking) {
    ++runs[{blocking.rows, blocking.depth, blocking.columns}];
    return Valley(blocking);
  });
  EXPECT_EQ(static_cast<int>(runs.size()), found.tried);
  int more = 0;
  for (const auto& [blocking, count] : runs) {
    more += count > 2 ? 1 : 0;
  }
  EXPECT_LE(more, 2) << "the first and the best, in the last turns";
}

}  // namespace
}  // namespace muster::kernels
