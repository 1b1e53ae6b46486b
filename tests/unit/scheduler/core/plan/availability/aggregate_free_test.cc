#include "scheduler/core/plan/availability/aggregate_free.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;

FreeAmounts Cores(std::uint32_t cores) {
  FreeAmounts amounts;
  amounts.cores = cores;
  return amounts;
}

NodeDemand Asks(std::uint32_t cores) {
  NodeDemand demand;
  demand.cores = cores;
  return demand;
}

// Up to six nodes of eight cores each, on which this and that is taken.
std::vector<NodeTimeline> AnyTimelines() {
  std::vector<NodeTimeline> timelines;
  const auto nodes = *rc::gen::inRange(1, 7);
  for (int node = 0; node < nodes; ++node) {
    NodeTimeline timeline(Cores(8), At(0));
    const auto jobs = *rc::gen::inRange(0, 4);
    for (int job = 0; job < jobs; ++job) {
      const auto from = *rc::gen::inRange(0, 40);
      timeline.Take(Asks(2), At(from), At(from + *rc::gen::inRange(1, 30)));
    }
    timelines.push_back(timeline);
  }
  return timelines;
}

std::int64_t SumOver(const std::vector<NodeTimeline>& timelines, const std::vector<bool>& usable,
                     Time from, Time until) {
  std::int64_t least = INT64_MAX;
  for (Time time = from; time < until; time += std::chrono::seconds(1)) {
    std::int64_t sum = 0;
    for (std::size_t node = 0; node < timelines.size(); ++node) {
      sum += usable[node] ? timelines[node].Least(time, time + Duration(1)).cores : 0;
    }
    least = std::min(least, sum);
  }
  return least;
}

TEST(FreeInAll, FindsTheFirstTimeAtWhichTheSumIsThereForSoLong) {
  const bool holds = rc::check([] {
    std::vector<NodeTimeline> timelines = AnyTimelines();
    std::vector<bool> usable(timelines.size(), true);
    usable.back() = *rc::gen::arbitrary<bool>();
    FreeInAll sum;
    sum.Fill(timelines, usable);
    if (usable.back()) {  // what is taken later counts, too
      const auto from = *rc::gen::inRange(0, 40);
      timelines.back().Take(Asks(1), At(from), At(from + 7));
      sum.Take({1, 0}, At(from), At(from + 7));
    }
    const auto cores = *rc::gen::inRange<std::int64_t>(1, 50);
    const auto length = *rc::gen::inRange(1, 30);
    const auto from = *rc::gen::inRange(0, 40);
    const Time found = sum.EarliestFit({cores, 0}, At(from), std::chrono::seconds(length));
    Time expected = kFarFuture;
    for (int at = from; at < 100 && expected == kFarFuture; ++at) {
      if (SumOver(timelines, usable, At(at), At(at + length)) >= cores) {
        expected = At(at);
      }
    }
    RC_ASSERT(found == expected);
  });
  EXPECT_TRUE(holds);
}

// Enough steps that they are kept in several blocks, against a row of seconds.
TEST(FreeInAll, ManyStepsAreAsFew) {
  static constexpr int kSeconds = 4000;
  const bool holds = rc::check([] {
    FreeInAll sum;
    sum.Fill({NodeTimeline(Cores(10'000), At(0))}, {true});
    std::vector<std::int64_t> row(kSeconds, 10'000);
    for (int i = 0; i < 900; ++i) {
      const auto from = *rc::gen::inRange(0, kSeconds - 1);
      const auto until = *rc::gen::inRange(from + 1, std::min(kSeconds, from + 900) + 1);
      const auto cores = *rc::gen::inRange<std::int64_t>(1, 20);
      sum.Take({cores, 0}, At(from), until == kSeconds ? kFarFuture : At(until));
      for (int second = from; second < until; ++second) {
        row[static_cast<std::size_t>(second)] -= cores;
      }
    }
    for (int look = 0; look < 20; ++look) {
      const auto cores = *rc::gen::inRange<std::int64_t>(5'000, 10'001);
      const auto length = *rc::gen::inRange(1, 600);
      const auto from = *rc::gen::inRange(0, kSeconds - 1);
      int start = from;
      for (int second = from; second < kSeconds && second < start + length; ++second) {
        start = row[static_cast<std::size_t>(second)] < cores ? second + 1 : start;
      }
      RC_ASSERT(sum.EarliestFit({cores, 0}, At(from), std::chrono::seconds(length)) ==
                (start == kSeconds ? kFarFuture : At(start)));
    }
  });
  EXPECT_TRUE(holds);
}

TEST(FreeInAll, ItsTimesAreTheSameHoweverItWasFilled) {
  const bool holds = rc::check([] {
    std::vector<NodeTimeline> timelines = AnyTimelines();
    const std::vector<bool> usable(timelines.size(), true);
    FreeInAll before;
    before.Fill(timelines, usable);
    timelines.front().Take(Asks(1), At(5), At(17));
    before.Take({1, 0}, At(5), At(17));
    FreeInAll after;
    after.Fill(timelines, usable);
    for (Time time = At(-1); time < kFarFuture; time = before.NextChange(time)) {
      RC_ASSERT(before.NextChange(time) == after.NextChange(time));
    }
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace muster::core
