#include "scheduler/core/explain/replay.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/core/state/state_hash.h"
#include "tests/unit/scheduler/core/history.h"

namespace muster::core {
namespace {

using testing::History;

constexpr std::uint64_t kSeeds = 24;
constexpr int kTurns = 240;

struct Retold {
  Replay replay;
  std::string difference;  // the first
};

// The history's journal and cycles, as the store would hand them back.
void Retell(const std::vector<Event>& events, const std::vector<CycleRecord>& cycles,
            Retold& told) {
  const auto note = [&told](const std::optional<ReplayDifference>& difference) {
    if (difference.has_value() && told.difference.empty()) {
      told.difference =
          absl::StrCat("version ", difference->version.value(), ": ", difference->text);
    }
  };
  auto cycle = cycles.begin();
  for (const Event& event : events) {
    note(told.replay.Apply(JournalEntry{told.replay.version().Next(), event}));
    for (; cycle != cycles.end() && cycle->version == told.replay.version(); ++cycle) {
      note(told.replay.Check(*cycle));
    }
  }
}

TEST(Replay, MakesEveryDecisionOfARandomHistoryAgain) {
  std::uint64_t starts = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    History history(seed);
    for (int turn = 0; turn < kTurns; ++turn) {
      history.Turn();
    }
    ASSERT_EQ(history.problem(), "");
    Retold told;
    Retell(history.events(), history.cycles(), told);
    EXPECT_EQ(told.difference, "");
    EXPECT_EQ(told.replay.cycles(), history.cycles().size());
    EXPECT_EQ(HashOf(told.replay.state()), HashOf(history.state()));
    starts += told.replay.starts();
  }
  EXPECT_GT(starts, kSeeds);
}

class OneHistory : public ::testing::Test {
 protected:
  OneHistory() : history_(8) {
    for (int turn = 0; turn < kTurns; ++turn) {
      history_.Turn();
    }
  }
  History history_;
};

TEST_F(OneHistory, APassWithOtherSettingsIsADifference) {
  std::vector<CycleRecord> cycles = history_.cycles();
  CycleRecord& changed = cycles[cycles.size() / 2];
  changed.hash += 1;
  Retold told;
  Retell(history_.events(), cycles, told);
  EXPECT_NE(
      told.difference.find(absl::StrCat("version ", changed.version.value(), ": a cycle made")),
      std::string::npos)
      << told.difference;
}

TEST_F(OneHistory, AStartThatNoPlanHasIsADifference) {
  std::vector<Event> events = history_.events();
  std::uint64_t version = 0;
  for (Event& event : events) {
    ++version;
    auto* start = std::get_if<AttemptStarted>(&event);
    if (start != nullptr && version > events.size() / 4) {
      start->plan_hash += 1;
      break;
    }
  }
  ASSERT_LT(version, events.size()) << "no start to change";
  Retold told;
  Retell(events, history_.cycles(), told);
  EXPECT_NE(told.difference.find(absl::StrCat("version ", version, ": job ")), std::string::npos)
      << told.difference;
}

TEST_F(OneHistory, StartsFromBeforePassesWereKeptAreCountedAndNotJudged) {
  Retold told;
  Retell(history_.events(), {}, told);
  EXPECT_EQ(told.difference, "");
  EXPECT_EQ(told.replay.starts(), 0U);
  EXPECT_GT(told.replay.starts_unchecked(), 0U);
}

}  // namespace
}  // namespace muster::core
