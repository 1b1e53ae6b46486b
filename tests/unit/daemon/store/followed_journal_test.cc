#include "daemon/store/followed_journal.h"

#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

constexpr Version kAt(7);

JournalEntry Submission(const char* variable, Version version = kAt) {
  JobSubmitted event;
  event.first = JobId(3);
  event.count = 1;
  event.token = "one";
  if (*variable != '\0') {
    event.program.environment = {variable};
  }
  return {version, event};
}

TEST(FollowedJournal, AnotherEntryInThePlaceOfTheLastContradicts) {
  FollowedJournal journal;
  journal.Read(Submission("API_KEY=1"));
  EXPECT_TRUE(journal.IsContradictedBy({kAt, HalfLifeSet{}}, kAt));
  EXPECT_FALSE(journal.IsContradictedBy(Submission("API_KEY=1"), kAt));
}

TEST(FollowedJournal, AnEntryWhoseSecretsAreErasedIsTheSame) {
  FollowedJournal journal;
  journal.Read(Submission("API_KEY=1"));
  EXPECT_FALSE(journal.IsContradictedBy(Submission(""), kAt));
}

TEST(FollowedJournal, OnlyTheLastEntryIsCompared) {
  FollowedJournal journal;
  journal.Read(Submission("API_KEY=1"));
  EXPECT_FALSE(journal.IsContradictedBy({kAt.Next(), HalfLifeSet{}}, kAt)) << "what follows";
  EXPECT_FALSE(journal.IsContradictedBy({kAt.Next(), HalfLifeSet{}}, kAt.Next()))
      << "the state went on by entries of its own";
  journal.Read(std::nullopt);
  EXPECT_FALSE(journal.IsContradictedBy({kAt, HalfLifeSet{}}, kAt)) << "the journal has it no more";
}

TEST(FollowedJournal, ItsVersionIsWhatWasReached) {
  FollowedJournal journal;
  EXPECT_FALSE(journal.version().valid());
  journal.Reach(kAt);
  EXPECT_EQ(journal.version(), kAt);
}

}  // namespace
}  // namespace muster::daemon
