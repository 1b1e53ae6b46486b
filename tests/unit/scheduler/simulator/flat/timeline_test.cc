#include "scheduler/simulator/flat/timeline.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace muster::sim {
namespace {

TEST(Timeline, FitsWhereEnoughIsFreeForTheWholeDuration) {
  Timeline timeline(10, 0);
  timeline.Take(0, 5, 8);
  timeline.Take(7, 20, 6);
  EXPECT_EQ(timeline.EarliestFit(5, 2), 0);
  EXPECT_EQ(timeline.EarliestFit(2, 10), 5);
  EXPECT_EQ(timeline.EarliestFit(3, 4), 5);
  EXPECT_EQ(timeline.EarliestFit(3, 5), 20);
  EXPECT_EQ(timeline.EarliestFit(1, 11), kNever);
}

TEST(Timeline, AFitMayBeginWhereAnotherEnds) {
  Timeline timeline(4, 0);
  timeline.Take(0, 10, 4);
  timeline.Take(10, 11, 1);
  EXPECT_EQ(timeline.EarliestFit(100, 3), 10);
}

TEST(Timeline, ForgetsThePastAndKeepsWhatIsFree) {
  Timeline timeline(4, 0);
  timeline.Take(0, 10, 3);
  timeline.Advance(10);
  EXPECT_EQ(timeline.FreeNow(), 4);
  EXPECT_EQ(timeline.changes(), 0U);
}

TEST(Timeline, AHolderCountsItsOwnAsFree) {
  Timeline timeline(4, 0);
  timeline.Take(0, 6, 3);
  timeline.Take(8, 18, 4);  // the holder's
  EXPECT_EQ(timeline.EarlierFit(10, 4, 8, kNever), 6);
  EXPECT_EQ(timeline.EarlierFit(10, 4, 8, 6), kNever);
}

// What is free, moment by moment, up to kEnd.
class Plain {
 public:
  static constexpr Tick kEnd = 4000;
  explicit Plain(std::int64_t free) : free_(kEnd, free) {}
  void Change(Tick from, Tick until, std::int64_t by) {
    for (Tick at = from; at < std::min(until, kEnd); ++at) {
      free_[static_cast<std::size_t>(at)] += by;
    }
  }
  [[nodiscard]] std::int64_t At(Tick at) const { return free_[static_cast<std::size_t>(at)]; }
  [[nodiscard]] bool Fits(Tick from, Tick until, std::int64_t amount) const {
    for (Tick at = from; at < std::min(until, kEnd); ++at) {
      if (At(at) < amount) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] Tick Earliest(Tick from, Tick duration, std::int64_t amount) const {
    for (Tick at = from; at < kEnd; ++at) {
      if (Fits(at, at + duration, amount)) {
        return at;
      }
    }
    return kNever;
  }

 private:
  std::vector<std::int64_t> free_;
};

struct Held {
  Tick from;
  Tick until;
  std::int64_t amount;
};

void Step(Timeline& timeline, Plain& plain, std::vector<Held>& held) {
  const auto duration = *rc::gen::inRange<Tick>(1, 60);
  const auto amount = *rc::gen::inRange<std::int64_t>(1, 20);
  if (*rc::gen::inRange(0, 3) != 0 || held.empty()) {
    const Tick from = timeline.EarliestFit(duration, amount);
    RC_ASSERT(from == plain.Earliest(timeline.now(), duration, amount));
    timeline.Take(from, from + duration, amount);
    plain.Change(from, from + duration, -amount);
    held.push_back({from, from + duration, amount});
    return;
  }
  const auto which = *rc::gen::inRange<std::size_t>(0, held.size());
  const Held gone = held[which];
  held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
  const Tick from = std::max(gone.from, timeline.now());
  if (from < gone.until) {
    plain.Change(from, gone.until, gone.amount);
    const Tick earlier = plain.Earliest(timeline.now(), gone.until - from, gone.amount);
    RC_ASSERT(timeline.EarlierFit(gone.until - from, gone.amount, from, kNever) ==
              (earlier < from ? earlier : kNever));
    timeline.Give(from, gone.until, gone.amount);
  }
}

TEST(Timeline, AgreesWithAPlainTable) {
  EXPECT_TRUE(rc::check([] {
    Timeline timeline(19, 0);
    Plain plain(19);
    std::vector<Held> held;
    for (int i = 0; i < 120; ++i) {
      Step(timeline, plain, held);
      if (*rc::gen::inRange(0, 40) == 0) {
        timeline.Advance(timeline.now() + *rc::gen::inRange<Tick>(0, 8));
      }
      const Tick at = timeline.now() + *rc::gen::inRange<Tick>(0, 400);
      RC_ASSERT(timeline.FreeAt(at) == plain.At(at));
      RC_ASSERT(timeline.FreeNow() == plain.At(timeline.now()));
      std::int64_t highest = plain.At(timeline.now());
      for (Tick each = timeline.now(); each < at; ++each) {
        highest = std::max(highest, plain.At(each));
      }
      RC_ASSERT(timeline.HighestUntil(at) == highest);
    }
  }));
}

}  // namespace
}  // namespace muster::sim
