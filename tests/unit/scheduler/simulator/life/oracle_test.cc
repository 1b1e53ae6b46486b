// The oracle must be able to see each promise broken; a simulation that passes means nothing
// otherwise.
#include "scheduler/simulator/life/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::sim {
namespace {

using ::testing::HasSubstr;

Execution On(const std::string& node, std::uint64_t job, std::uint32_t attempt, std::uint32_t cpu) {
  Execution execution{node, JobId(job), AttemptNumber(attempt), CpuSet(), Time(Duration(1)), {}};
  execution.cpus.Insert(cpu);
  return execution;
}

JournalEntry Submitted(std::uint64_t version, std::uint64_t job, const std::string& token) {
  JobSubmitted event;
  event.first = JobId(job);
  event.token = token;
  return {Version(version), event};
}

JournalEntry Ended(std::uint64_t version, std::uint64_t job) {
  JobEnded event;
  event.job = JobId(job);
  return {Version(version), event};
}

TEST(Oracle, AcceptsALifeInOrder) {
  Oracle oracle;
  oracle.Acknowledged("a", JobId(1));
  oracle.Acknowledged("a", JobId(1));
  oracle.Began(On("node1", 1, 1, 0));
  oracle.Began(On("node2", 1, 1, 0));
  oracle.Ended("node1", JobId(1), AttemptNumber(1), Time(Duration(5)));
  oracle.Ended("node2", JobId(1), AttemptNumber(1), Time(Duration(6)));
  oracle.CheckJournal({Submitted(1, 1, "a"), Ended(2, 1)}, true);
  EXPECT_FALSE(oracle.broken().has_value()) << *oracle.broken();
}

TEST(Oracle, SeesTwoAttemptsOfAJobOverlap) {
  Oracle oracle;
  oracle.Began(On("node1", 1, 1, 0));
  oracle.Began(On("node2", 1, 2, 0));
  EXPECT_THAT(oracle.broken().value_or(""), HasSubstr("promise 3"));
}

TEST(Oracle, SeesAnAttemptStartedTwice) {
  Oracle oracle;
  oracle.Began(On("node1", 1, 1, 0));
  oracle.Ended("node1", JobId(1), AttemptNumber(1), Time(Duration(5)));
  oracle.Began(On("node1", 1, 1, 0));
  EXPECT_THAT(oracle.broken().value_or(""), HasSubstr("promise 3"));
}

TEST(Oracle, SeesAFrozenJobsThreadTakenOnlyOnceItRunsAgain) {
  Oracle oracle;
  oracle.Began(On("node1", 1, 1, 0));
  oracle.Frozen("node1", JobId(1), AttemptNumber(1));
  oracle.Began(On("node1", 2, 1, 0));
  EXPECT_FALSE(oracle.broken().has_value()) << *oracle.broken();
  oracle.Thawed("node1", JobId(1), AttemptNumber(1));
  EXPECT_THAT(oracle.broken().value_or(""), HasSubstr("promise 2"));
}

TEST(Oracle, SeesTwoJobsOnOneThread) {
  Oracle oracle;
  oracle.Began(On("node1", 1, 1, 0));
  oracle.Began(On("node1", 2, 1, 1));
  EXPECT_FALSE(oracle.broken().has_value());
  oracle.Began(On("node1", 3, 1, 1));
  EXPECT_THAT(oracle.broken().value_or(""), HasSubstr("promise 2"));
}

TEST(Oracle, SeesALostSubmission) {
  Oracle oracle;
  oracle.Acknowledged("a", JobId(1));
  oracle.CheckJournal({Submitted(1, 1, "b")}, false);
  EXPECT_THAT(oracle.broken().value_or(""), HasSubstr("promise 1"));
}

TEST(Oracle, SeesARetryThatHadTwoEffects) {
  Oracle told;
  told.Acknowledged("a", JobId(1));
  told.Acknowledged("a", JobId(2));
  EXPECT_THAT(told.broken().value_or(""), HasSubstr("promise 1"));
  Oracle made;
  made.CheckJournal({Submitted(1, 1, "a"), Submitted(2, 2, "a")}, false);
  EXPECT_THAT(made.broken().value_or(""), HasSubstr("promise 1"));
}

TEST(Oracle, SeesAJobThatEndsTwiceOrNever) {
  Oracle twice;
  twice.CheckJournal({Submitted(1, 1, "a"), Ended(2, 1), Ended(3, 1)}, false);
  EXPECT_THAT(twice.broken().value_or(""), HasSubstr("promise 5"));
  Oracle never;
  never.CheckJournal({Submitted(1, 1, "a")}, false);
  EXPECT_FALSE(never.broken().has_value());
  never.CheckJournal({Submitted(1, 1, "a")}, true);
  EXPECT_THAT(never.broken().value_or(""), HasSubstr("promise 5"));
}

TEST(Oracle, SeesWhatStillRunsWhenAllIsOver) {
  Oracle oracle;
  oracle.Began(On("node1", 1, 1, 0));
  oracle.CheckJournal({Submitted(1, 1, "a"), Ended(2, 1)}, true);
  EXPECT_THAT(oracle.broken().value_or(""), HasSubstr("still runs"));
}

}  // namespace
}  // namespace muster::sim
