#include "agent/attempts/attempt_status.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "agent/supervisor/attempt/journal.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

class AttemptStatusTest : public ::testing::Test {
 protected:
  AttemptStatusTest() : directory_(temp_ / "1.1"), boot_(ReadBootId().value()) {
    std::filesystem::create_directory(directory_.path());
  }
  void WriteOrderFile() { ASSERT_TRUE(WriteFileAtomically(directory_.Order(), "order").ok()); }
  void Claim(const ProcessIdentity& identity) { ASSERT_TRUE(TakeClaim(directory_, identity).ok()); }
  void Report(const Fact& fact) {
    JournalWriter journal =
        JournalWriter::Open(directory_.Journal(), JobId(1), AttemptNumber(1)).value();
    ASSERT_TRUE(journal.Append(fact).ok());
  }
  AttemptStatus Read(bool rebooted = false) const {
    return ReadAttemptStatus(directory_, boot_, rebooted).value();
  }
  // A process that has ended, as it was.
  static ProcessIdentity Ended() {
    SpawnRequest request;
    request.program = "/bin/sleep";
    request.arguments = {"sleep", "1000"};
    const pid_t pid = Spawn(request).value();
    ProcessIdentity identity = ReadIdentity(pid).value();
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return identity;
  }

  TempDirectory temp_;
  const AttemptDirectory directory_;
  const std::string boot_;
};

TEST_F(AttemptStatusTest, WithoutAnOrderItWasNotTaken) {
  EXPECT_EQ(Read(), AttemptStatus::kEmpty);
}

TEST_F(AttemptStatusTest, AnOrderWithoutAClaimWaitsForASupervisorUnlessTheNodeRestarted) {
  WriteOrderFile();
  EXPECT_EQ(Read(), AttemptStatus::kUnclaimed);
  EXPECT_EQ(Read(/*rebooted=*/true), AttemptStatus::kOtherBoot);
}

TEST_F(AttemptStatusTest, ALiveClaimIsSupervisedEvenIfTheBootOnRecordIsMissing) {
  WriteOrderFile();
  Claim(ReadIdentity(getppid()).value());
  EXPECT_EQ(Read(), AttemptStatus::kSupervised);
  EXPECT_EQ(Read(/*rebooted=*/true), AttemptStatus::kSupervised);
}

TEST_F(AttemptStatusTest, ADeadClaimIsDeadUnlessTheJournalHoldsTheEnd) {
  WriteOrderFile();
  Claim(Ended());
  EXPECT_EQ(Read(), AttemptStatus::kDead);
  Report(RunStarted());
  EXPECT_EQ(Read(), AttemptStatus::kDead);
  Report(RunEnded());
  EXPECT_EQ(Read(), AttemptStatus::kEnded);
}

TEST_F(AttemptStatusTest, ADeadSupervisorsAttemptIsInItsEpilogWhileThatRuns) {
  WriteOrderFile();
  Claim(Ended());
  ASSERT_TRUE(TakeEpilogClaim(directory_, ReadIdentity(getppid()).value()).ok());
  EXPECT_EQ(Read(), AttemptStatus::kEpilog);
  EXPECT_TRUE(absl::IsAlreadyExists(TakeEpilogClaim(directory_, Ended())));
  Report(RunEnded());
  EXPECT_EQ(Read(), AttemptStatus::kEnded);
}

TEST_F(AttemptStatusTest, AnEpilogThatWasCutOffIsNoneUnderWay) {
  WriteOrderFile();
  Claim(Ended());
  ASSERT_TRUE(TakeEpilogClaim(directory_, Ended()).ok());
  EXPECT_EQ(Read(), AttemptStatus::kDead);
}

TEST_F(AttemptStatusTest, AReusedPidIsNotTheSupervisor) {
  WriteOrderFile();
  ProcessIdentity other = ReadIdentity(getppid()).value();
  ++other.start_time_ticks;
  Claim(other);
  EXPECT_EQ(Read(), AttemptStatus::kDead);
}

TEST_F(AttemptStatusTest, AClaimOfAnotherBootIsToldApart) {
  WriteOrderFile();
  ProcessIdentity other = ReadIdentity(getppid()).value();
  other.boot_id = "another";
  Claim(other);
  EXPECT_EQ(Read(), AttemptStatus::kOtherBoot);
}

TEST_F(AttemptStatusTest, OurOwnClaimKeepsSupervisorsOutAndIsNone) {
  WriteOrderFile();
  Claim(ReadIdentity(getpid()).value());
  EXPECT_EQ(Read(), AttemptStatus::kDead);
}

TEST_F(AttemptStatusTest, WhatALossOfPowerToreIsOfAnotherBoot) {
  WriteOrderFile();
  for (const std::string& torn : {std::string(), std::string(20, '\0'), std::string("12 ")}) {
    std::filesystem::remove(directory_.Claim());
    ASSERT_TRUE(WriteFileAtomically(directory_.Claim(), torn).ok());
    EXPECT_EQ(Read(/*rebooted=*/true), AttemptStatus::kOtherBoot);
  }
  Report(RunStarted());
  Report(RunEnded());
  std::string journal = ReadFile(directory_.Journal()).value();
  EXPECT_EQ(Read(/*rebooted=*/true), AttemptStatus::kEnded);
  journal.replace(journal.size() / 4, journal.size() / 2, journal.size() / 2, '\0');
  ASSERT_TRUE(WriteFileAtomically(directory_.Journal(), journal).ok());
  EXPECT_FALSE(ReadAttemptStatus(directory_, boot_, false).ok());
  EXPECT_EQ(Read(/*rebooted=*/true), AttemptStatus::kOtherBoot);
}

TEST_F(AttemptStatusTest, AClaimThatCannotBeReadIsNotTakenForADeath) {
  WriteOrderFile();
  ASSERT_TRUE(WriteFileAtomically(directory_.Claim(), "garbage").ok());
  EXPECT_FALSE(ReadAttemptStatus(directory_, boot_, false).ok());
}

}  // namespace
}  // namespace muster::agent
