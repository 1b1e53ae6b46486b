#include "agent/attempts/orphans.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <memory>

#include "agent/supervisor/attempt/journal.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

const AttemptKey kKey{JobId(7), AttemptNumber(1)};

TEST(OrphansTest, WhatLeftNothingIsClearedAtOnce) {
  const SystemClock clock;
  const Logger log = Logger::ToStandardError(clock);
  const std::unique_ptr<EventLoop> loop = EventLoop::Create().value();
  Children children;
  int cleared = 0;
  Clearing clearing(*loop, log, children, [&](const AttemptKey& key) {
    EXPECT_EQ(key, kKey);
    ++cleared;
  });
  DeadAttempt dead;
  dead.job = 999'999'999;
  clearing.Begin(kKey, dead);
  EXPECT_EQ(cleared, 1);
}

TEST(OrphansTest, ADirectoryWithoutAClaimKnowsNoSupervisor) {
  const TempDirectory temp;
  const DeadAttempt dead = DeadAttemptIn(AttemptDirectory(temp / "7.1"), kKey.job, "/group");
  EXPECT_EQ(dead.job, 7U);
  EXPECT_EQ(dead.supervisor, 0);
  EXPECT_EQ(dead.cgroup, "/group");
  EXPECT_TRUE(dead.ranks.empty());
}

TEST(OrphansTest, TheRanksThatTheJournalRecordedAreKnown) {
  const TempDirectory temp;
  const AttemptDirectory directory(temp / "7.1");
  ASSERT_EQ(mkdir((temp / "7.1").c_str(), 0700), 0);
  BindingRead read;
  read.time = Time(std::chrono::seconds(5));
  read.ranks.emplace_back();
  read.ranks.back().pid = 1234;
  {
    JournalWriter journal =
        JournalWriter::Open(directory.Journal(), kKey.job, kKey.attempt).value();
    ASSERT_TRUE(journal.Append(read).ok());
  }
  const DeadAttempt dead = DeadAttemptIn(directory, kKey.job, "");
  ASSERT_EQ(dead.ranks.size(), 1U);
  EXPECT_EQ(dead.ranks[0].pid, 1234);
  EXPECT_EQ(dead.ranks[0].seen, read.time);
}

}  // namespace
}  // namespace muster::agent
