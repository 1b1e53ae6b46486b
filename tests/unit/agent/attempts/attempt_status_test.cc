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

class StandingTest : public testing::Test {
 protected:
  StandingTest() : directory_(temp_ / "1.1"), boot_(ReadBootId().value()) {
    std::filesystem::create_directory(directory_.path());
  }
  void WriteOrderFile() { ASSERT_TRUE(WriteFileAtomically(directory_.Order(), "order").ok()); }
  void Claim(const ProcessIdentity& identity) { ASSERT_TRUE(TakeClaim(directory_, identity).ok()); }
  void Report(const Fact& fact) {
    JournalWriter journal =
        JournalWriter::Open(directory_.Journal(), JobId(1), AttemptNumber(1)).value();
    ASSERT_TRUE(journal.Append(fact).ok());
  }
  Standing Read(bool rebooted = false) const {
    return ReadStanding(directory_, boot_, rebooted).value();
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

TEST_F(StandingTest, WithoutAnOrderItWasNotTaken) {
  EXPECT_EQ(Read(), Standing::kEmpty);
}

TEST_F(StandingTest, AnOrderWithoutAClaimWaitsForASupervisorUnlessTheNodeRestarted) {
  WriteOrderFile();
  EXPECT_EQ(Read(), Standing::kUnclaimed);
  EXPECT_EQ(Read(/*rebooted=*/true), Standing::kOtherBoot);
}

TEST_F(StandingTest, ALiveClaimIsSupervisedEvenIfTheBootOnRecordIsMissing) {
  WriteOrderFile();
  Claim(ReadIdentity(getppid()).value());
  EXPECT_EQ(Read(), Standing::kSupervised);
  EXPECT_EQ(Read(/*rebooted=*/true), Standing::kSupervised);
}

TEST_F(StandingTest, ADeadClaimIsDeadUnlessTheJournalHoldsTheEnd) {
  WriteOrderFile();
  Claim(Ended());
  EXPECT_EQ(Read(), Standing::kDead);
  Report(RunStarted());
  EXPECT_EQ(Read(), Standing::kDead);
  Report(RunEnded());
  EXPECT_EQ(Read(), Standing::kEnded);
}

TEST_F(StandingTest, ADeadSupervisorsAttemptIsInItsEpilogWhileThatRuns) {
  WriteOrderFile();
  Claim(Ended());
  ASSERT_TRUE(TakeEpilogClaim(directory_, ReadIdentity(getppid()).value()).ok());
  EXPECT_EQ(Read(), Standing::kEpilog);
  EXPECT_TRUE(absl::IsAlreadyExists(TakeEpilogClaim(directory_, Ended())));
  Report(RunEnded());
  EXPECT_EQ(Read(), Standing::kEnded);
}

TEST_F(StandingTest, AnEpilogThatWasCutOffIsNoneUnderWay) {
  WriteOrderFile();
  Claim(Ended());
  ASSERT_TRUE(TakeEpilogClaim(directory_, Ended()).ok());
  EXPECT_EQ(Read(), Standing::kDead);
}

TEST_F(StandingTest, AReusedPidIsNotTheSupervisor) {
  WriteOrderFile();
  ProcessIdentity other = ReadIdentity(getppid()).value();
  ++other.start_time_ticks;
  Claim(other);
  EXPECT_EQ(Read(), Standing::kDead);
}

TEST_F(StandingTest, AClaimOfAnotherBootIsToldApart) {
  WriteOrderFile();
  ProcessIdentity other = ReadIdentity(getppid()).value();
  other.boot_id = "another";
  Claim(other);
  EXPECT_EQ(Read(), Standing::kOtherBoot);
}

TEST_F(StandingTest, OurOwnClaimKeepsSupervisorsOutAndIsNone) {
  WriteOrderFile();
  Claim(ReadIdentity(getpid()).value());
  EXPECT_EQ(Read(), Standing::kDead);
}

TEST_F(StandingTest, AClaimThatCannotBeReadIsNotTakenForADeath) {
  WriteOrderFile();
  ASSERT_TRUE(WriteFileAtomically(directory_.Claim(), "garbage").ok());
  EXPECT_FALSE(ReadStanding(directory_, boot_, false).ok());
}

}  // namespace
}  // namespace muster::agent
