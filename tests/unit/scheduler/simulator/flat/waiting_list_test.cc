#include "scheduler/simulator/flat/waiting_list.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace muster::sim {
namespace {

// The numbers that `opening` admits, taken out one after the other while it shrinks.
std::vector<std::uint64_t> TakeAdmitted(WaitingList& list, FlatOpening opening) {
  std::vector<std::uint64_t> taken;
  for (WaitingList::Position at = list.Find({}, opening); !list.IsEnd(at);
       at = list.Find(at, opening)) {
    const WaitingEntry entry = list.At(at);
    taken.push_back(entry.number);
    opening.processors -= entry.processors;
    list.Remove(entry.score, entry.number);
  }
  return taken;
}

std::vector<std::uint64_t> TakeAdmitted(std::vector<WaitingEntry>& list, FlatOpening opening) {
  std::vector<std::uint64_t> taken;
  for (auto at = list.begin(); at != list.end();) {
    if (!opening.Admits(at->processors, at->estimate)) {
      ++at;
      continue;
    }
    taken.push_back(at->number);
    opening.processors -= at->processors;
    at = list.erase(at);
  }
  return taken;
}

TEST(WaitingList, ScoresGoFirstAndTiesFallToTheEarlierArrival) {
  WaitingList list;
  list.Insert({.score = 2, .number = 1});
  list.Insert({.score = 1, .number = 3});
  list.Insert({.score = 1, .number = 2});
  EXPECT_EQ(list.Front().number, 2U);
  list.Remove(1, 2);
  EXPECT_EQ(list.Front().number, 3U);
}

TEST(WaitingList, AgreesWithASortedVector) {
  EXPECT_TRUE(rc::check([] {
    WaitingList list;
    std::vector<WaitingEntry> plain;
    const auto scores = *rc::gen::element(1, 5, 1000);
    std::uint64_t number = 0;
    for (int i = 0; i < 8; ++i) {
      for (int added = *rc::gen::inRange(0, 120); added > 0; --added) {
        const WaitingEntry entry{.score = static_cast<double>(*rc::gen::inRange(0, scores)),
                                 .number = ++number,
                                 .job = 0,
                                 .processors = *rc::gen::inRange<std::int64_t>(1, 50),
                                 .estimate = *rc::gen::inRange<Tick>(1, 50)};
        list.Insert(entry);
        plain.insert(std::upper_bound(plain.begin(), plain.end(), entry, GoesBefore), entry);
      }
      const FlatOpening opening{.processors = *rc::gen::inRange<std::int64_t>(0, 400),
                                .window = *rc::gen::inRange<Tick>(0, 60),
                                .extra = *rc::gen::inRange<std::int64_t>(0, 30)};
      RC_ASSERT(TakeAdmitted(list, opening) == TakeAdmitted(plain, opening));
      const std::vector<WaitingEntry> entries = list.Entries();
      RC_ASSERT(entries.size() == plain.size() && list.size() == plain.size());
      for (std::size_t each = 0; each < plain.size(); ++each) {
        RC_ASSERT(entries[each].number == plain[each].number);
      }
    }
  }));
}

}  // namespace
}  // namespace muster::sim
