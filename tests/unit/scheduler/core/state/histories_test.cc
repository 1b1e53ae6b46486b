#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/state/actions.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/core/state/state_hash.h"
#include "tests/unit/scheduler/core/history.h"

namespace muster::core {
namespace {

using testing::History;

constexpr std::uint64_t kSeeds = 240;
constexpr int kTurns = 320;

void ExpectSameDecisions(const ClusterState& a, const ClusterState& b, const History& history) {
  EXPECT_EQ(HashOf(a), HashOf(b));
  EXPECT_EQ(a.policy().site(), b.policy().site());
  EXPECT_TRUE(a.policy().snapshot().usage == b.policy().snapshot().usage);
  EXPECT_EQ(a.usage().TakeSnapshot().used, b.usage().TakeSnapshot().used);
  const auto& network = history.config().network;
  EXPECT_EQ(MakePlan(*BuildSnapshot(a, history.now(), nullptr, network), history.config()),
            MakePlan(*BuildSnapshot(b, history.now(), nullptr, network), history.config()));
  for (const auto& [id, job] : a.jobs()) {
    EXPECT_EQ(ActionsFor(job), ActionsFor(*b.FindJob(id)));
  }
}

// Replaying the journal, and loading what the store holds, give the same state and decisions.
void ExpectComesBack(const History& history) {
  ClusterState replayed;
  for (const Event& event : history.events()) {
    replayed.Apply(event);
  }
  ExpectSameDecisions(history.state(), replayed, history);
  for (const bool apart : {false, true}) {
    const ClusterState loaded(history.Image(apart));
    ExpectSameDecisions(history.state(), loaded, history);
    EXPECT_EQ(BrokenInvariant(loaded), std::nullopt);
  }
}

// Every job that was submitted ended once, or can never start and says so.
void ExpectSettled(const History& history) {
  std::map<JobId, int> ends;
  JobId last;
  for (const Event& event : history.events()) {
    if (const auto* submitted = std::get_if<JobSubmitted>(&event)) {
      for (std::uint32_t i = 0; i < submitted->count; ++i) {
        const JobId job(submitted->first.value() + i);
        EXPECT_GT(job, last) << "an id was given out twice";
        last = job;
        ends[job] = 0;
      }
    } else if (const auto* end = std::get_if<JobEnded>(&event)) {
      EXPECT_TRUE(IsTerminal(end->state));
      for (std::uint32_t i = 0; i <= end->more; ++i) {
        ++ends[JobId(end->job.value() + i)];
      }
    }
  }
  std::map<JobId, Reason> waiting;
  const auto snapshot =
      BuildSnapshot(history.state(), history.now(), nullptr, history.config().network);
  for (const LeftWaiting& left : MakePlan(*snapshot, history.config()).waiting) {
    for (std::uint32_t i = 0; i < left.count; ++i) {
      const JobId job(left.job.value() + i);
      waiting.emplace(job, left.ReasonOf(job));
    }
  }
  for (const auto& [job, times] : ends) {
    const auto left = waiting.find(job);
    const bool never = left != waiting.end() && left->second.verdict == ReasonClass::kNever;
    EXPECT_EQ(times, never ? 0 : 1)
        << "job " << job.value() << ": "
        << (left != waiting.end() ? ToSentence(left->second) : std::string("gone"));
  }
  for (const auto& [id, node] : history.state().nodes()) {
    EXPECT_TRUE(node.taken.cpus.Empty() && node.taken.memory.zero()) << node.name;
  }
}

class Histories : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Histories, KeepTheInvariantsComeBackFromTheirJournalsAndEndEveryJobOnce) {
  constexpr std::uint64_t kShare = kSeeds / 8;
  for (std::uint64_t i = 0; i < kShare; ++i) {
    const std::uint64_t seed = GetParam() * kShare + i + 1;
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    History history(seed);
    for (int turn = 0; turn < kTurns; ++turn) {
      history.Turn();
      ASSERT_EQ(history.problem(), "");
      if (turn % 160 == 159) {
        ExpectComesBack(history);
      }
    }
    history.Settle();
    ASSERT_EQ(history.problem(), "");
    ExpectComesBack(history);
    ExpectSettled(history);
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Histories, ::testing::Range<std::uint64_t>(0, 8));

TEST(History, TheSameSeedMakesTheSameHistory) {
  History a(7);
  History b(7);
  for (int turn = 0; turn < kTurns; ++turn) {
    a.Turn();
    b.Turn();
  }
  EXPECT_EQ(a.events(), b.events());
  EXPECT_GT(a.events().size(), 100U);
}

TEST(History, ReachesEveryKindOfEventAndOfEnd) {
  std::map<std::size_t, int> events;
  std::map<JobState, int> ends;
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    History history(seed);
    for (int turn = 0; turn < kTurns; ++turn) {
      history.Turn();
    }
    for (const Event& event : history.events()) {
      ++events[event.index()];
      if (const auto* end = std::get_if<JobEnded>(&event)) {
        ++ends[end->state];
      }
    }
  }
  for (std::size_t kind = 0; kind < std::variant_size_v<Event>; ++kind) {
    EXPECT_GT(events[kind], 0) << "of kind " << kind;
  }
  for (const JobState state : {JobState::kCompleted, JobState::kFailed, JobState::kCancelled,
                               JobState::kTimeout, JobState::kNodeFail}) {
    EXPECT_GT(ends[state], 0) << Name(state);
  }
}

}  // namespace
}  // namespace muster::core
