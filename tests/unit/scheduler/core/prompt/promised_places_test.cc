#include "scheduler/core/prompt/promised_places.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace muster::core {
namespace {

// What is free at each moment, one by one: the same questions asked the slow way.
class Moments {
 public:
  Moments(std::int64_t free, PromiseTime horizon)
      : free_(static_cast<std::size_t>(horizon), free) {}

  void Add(const KeptPlace& place, std::int64_t by) {
    for (PromiseTime at = std::max<PromiseTime>(place.from, 0); at < place.until; ++at) {
      free_[static_cast<std::size_t>(at)] += by;
    }
  }
  [[nodiscard]] bool Fits(PromiseTime start, PromiseTime limit, std::int64_t amount) const {
    return std::all_of(free_.begin() + start, free_.begin() + start + limit,
                       [amount](std::int64_t free) { return free >= amount; });
  }
  [[nodiscard]] PromiseTime Earliest(PromiseTime from, PromiseTime limit,
                                     std::int64_t amount) const {
    while (!Fits(from, limit, amount)) {
      ++from;
    }
    return from;
  }
  [[nodiscard]] PromiseTime Latest(PromiseTime by, PromiseTime now, PromiseTime limit,
                                   std::int64_t amount) const {
    while (by >= now && !Fits(by, limit, amount)) {
      --by;
    }
    return by < now ? kNoPromise : by;
  }
  [[nodiscard]] std::int64_t Lowest() const {
    return *std::min_element(free_.begin(), free_.end());
  }

 private:
  std::vector<std::int64_t> free_;
};

constexpr PromiseTime kHorizon = 20'000;

TEST(PromisedPlaces, AnswerAsABookOfEveryMomentDoes) {
  const bool holds = rc::check([] {
    const auto all = *rc::gen::inRange<std::int64_t>(1, 6);
    PromisedPlaces places(all, 0);
    Moments moments(all, kHorizon);
    std::vector<KeptPlace> kept;
    std::vector<PromiseTime> limits;
    PromiseTime now = 0;
    const auto turns = *rc::gen::inRange(1, 25);
    for (int turn = 0; turn < turns; ++turn) {
      now += *rc::gen::element<PromiseTime>(0, 1, 7, 90);
      places.Advance(now);
      const auto amount = *rc::gen::inRange<std::int64_t>(1, all + 1);
      const auto limit = *rc::gen::element<PromiseTime>(1, 5, 60, 333, 700);
      const PromiseTime earliest = moments.Earliest(now, limit, amount);
      RC_ASSERT(places.Earliest(now, limit, amount) == earliest);
      const PromiseTime by = earliest + *rc::gen::element<PromiseTime>(0, 3, 200, 1000);
      const PromiseTime latest = moments.Latest(by, now, limit, amount);
      RC_ASSERT(places.Latest(by, limit, amount) == latest);
      kept.push_back(places.Keep(*rc::gen::arbitrary<bool>() ? earliest : latest, limit, amount));
      limits.push_back(limit);
      moments.Add(kept.back(), -amount);
      RC_ASSERT(kept.back().from <= kept.back().start);
      RC_ASSERT(kept.back().until >= kept.back().start + limit);
      RC_ASSERT(moments.Lowest() >= 0);
      const auto which = *rc::gen::inRange<std::size_t>(0, kept.size());
      const KeptPlace own = kept[which];
      if (own.start >= now) {
        moments.Add(own, own.amount);
        const bool fits = moments.Fits(now, limits[which], own.amount);
        RC_ASSERT(!places.FitsNow(limits[which], own.amount, own) || fits);
        moments.Add(own, -own.amount);
      }
      if (*rc::gen::arbitrary<bool>()) {
        places.GiveBack(own);
        moments.Add(own, own.amount);
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(which));
        limits.erase(limits.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
  });
  EXPECT_TRUE(holds);
}

TEST(PromisedPlaces, AKeptPlaceCanAlwaysBeTakenWhenItsTimeHasCome) {
  const bool holds = rc::check([] {
    PromisedPlaces places(4, 0);
    std::vector<std::pair<KeptPlace, PromiseTime>> kept;
    for (int i = 0; i < 12; ++i) {
      const auto amount = *rc::gen::inRange<std::int64_t>(1, 5);
      const auto limit = *rc::gen::inRange<PromiseTime>(1, 100'000);
      const PromiseTime by = places.Earliest(0, limit, amount) + 86'400;
      kept.emplace_back(places.Keep(places.Latest(by, limit, amount), limit, amount), limit);
    }
    std::sort(kept.begin(), kept.end(),
              [](const auto& a, const auto& b) { return a.first.start < b.first.start; });
    for (const auto& [place, limit] : kept) {
      places.Advance(place.start);
      places.GiveBack(place);
      RC_ASSERT(places.FitsNow(limit, place.amount, {}));
      places.Keep(place.start, limit, place.amount);
    }
  });
  EXPECT_TRUE(holds);
}

TEST(PromisedPlaces, StepsDoNotGrowWithTheJobs) {
  PromisedPlaces places(1000, 0);
  std::size_t most = 0;
  for (std::int64_t i = 0; i < 20'000; ++i) {
    const std::int64_t limit = 60 + i * 7919 % 86'400;
    places.Keep(places.Earliest(0, limit, 1 + i % 40), limit, 1 + i % 40);
    most = std::max(most, places.steps());
  }
  EXPECT_LT(most, 128U * 24);
}

TEST(PromisedPlaces, LimitsOfAYearAndMoreFit) {
  PromisedPlaces places(1, -5);
  const PromiseTime year = 31'536'000;
  for (int i = 0; i < 1000; ++i) {
    const PromiseTime start = places.Earliest(-5, year, 1);
    EXPECT_GE(start, i * year - 5);
    places.Keep(start, year, 1);
  }
}

}  // namespace
}  // namespace muster::core
