// Checkpoints by CRIU: what the supervisor makes of its successes and failures (a stand-in for CRIU
// has them), and, where a CRIU works, a script that goes on.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "agent/node/criu_feature.h"
#include "agent/supervisor/criu/criu_images.h"
#include "scheduler/runtime/clock.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"
#include "tests/unit/agent/supervisor/control_client.h"

namespace muster::agent {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Duration kAnHour = std::chrono::hours(1);

class CriuAttempt : public AttemptFixture {
 protected:
  CriuAttempt() {
    order_.launch.spec.checkpoint_with = CheckpointMeans::kCriu;
    std::filesystem::copy_file(MUSTER_FAKE_CRIU, tools_ / "criu");
    environment_ = {"MUSTER_CRIU=" + (tools_ / "criu")};
  }
  // Work that goes on until the file `done` is there, and says what befalls it.
  void BatchThatStays(const std::string& first = "echo begun") {
    Batch("trap 'echo termed; exit 3' TERM\n" + first +
          "\nwhile [ ! -e done ]; do sleep 0.05; done; echo done");
  }
  void Every(const std::string& seconds) {
    order_.launch.program.environment.push_back("MUSTER_CHECKPOINT_INTERVAL=" + seconds);
  }
  // This is the second attempt, and an earlier one saved these.
  void LetThereBe(int generations) {
    CriuImages images = *CriuImages::Make(Images(), geteuid());
    for (int i = 1; i <= generations; ++i) {
      const UniqueFd next = *images.BeginNext();
      std::ofstream(Images() + "/." + std::to_string(i) + "/mark") << i;
      ASSERT_TRUE(images.CommitNext(next.get(), 4'000'000).ok());
    }
    order_.launch.attempt = AttemptNumber(2);
  }
  std::string Images() const { return work_ / "muster-7.checkpoint/criu-7"; }
  bool Has(const std::string& name) const { return std::filesystem::exists(Images() + "/" + name); }
  std::string Calls() const { return Slurp(tools_ / "calls"); }
  void Say(const std::string& name) const { std::ofstream(tools_ / name) << ""; }
  void Done() const { std::ofstream(work_ / "done") << ""; }
  void End(EndCause cause, Duration grace) {
    TerminateOrder order;
    order.job = JobId(7);
    order.attempt = order_.launch.attempt;
    order.cause = cause;
    order.grace = grace;
    ASSERT_TRUE(SendTerminate(directory_, order).ok());
  }
  bool Begun() const { return Output().find("begun\n") != std::string::npos; }
  CheckpointRecord Record() const {
    const std::vector<RunCheckpointed> facts = Facts<RunCheckpointed>();
    return facts.empty() ? CheckpointRecord() : facts.back().record;
  }

  TempDirectory tools_;
};

TEST_F(CriuAttempt, WhatItSavesIsReportedAndGoesWithTheScriptsOwnEnd) {
  BatchThatStays();
  Every("1");
  const Time before = SystemClock().Now();
  order_.launch.started = before;
  Start();
  // The name is there before the supervisor hears that all of it is on the disk: wait for the
  // third.
  ASSERT_TRUE(Eventually([&] { return Has("3") && Record().count > 0; }));
  EXPECT_EQ(Record().interval, Duration(1000));
  Done();
  ASSERT_EQ(Wait(), 0);
  const CheckpointRecord record = Record();
  EXPECT_GE(record.count, 2U);
  EXPECT_GE(record.begun, before);
  EXPECT_GE(record.committed, record.begun);
  EXPECT_GT(record.bytes, Bytes(0));
  EXPECT_EQ(record.restart, Duration(0));
  EXPECT_EQ(Output(), "begun\ndone\n");
  EXPECT_FALSE(std::filesystem::exists(work_ / "muster-7.checkpoint"));
}

TEST_F(CriuAttempt, AScriptThatEndsWhileItIsSavedLeavesNothing) {
  BatchThatStays();
  Every("1");
  Say("dump.stays");
  Start();
  ASSERT_TRUE(Eventually([&] { return !Slurp(tools_ / "stays").empty() && Has(".1"); }));
  Done();
  ASSERT_EQ(Wait(), 0);
  EXPECT_TRUE(Facts<RunEnded>().back().status.success());
  const pid_t dump = std::stoi(Slurp(tools_ / "stays"));
  EXPECT_TRUE(Eventually([dump] { return kill(dump, 0) != 0; })) << "it is saved on";
  EXPECT_FALSE(std::filesystem::exists(work_ / "muster-7.checkpoint"));
}

TEST_F(CriuAttempt, ADumpThatFailsLeavesTheOneBeforeAndTheScriptRunning) {
  BatchThatStays();
  Every("1");
  Start();
  ASSERT_TRUE(Eventually([&] { return Has("1"); }));
  Say("dump.fails");
  ASSERT_TRUE(Eventually([&] { return Has("failed.log"); }));
  EXPECT_THAT(Slurp(Images() + "/failed.log"), HasSubstr("no luck"));
  EXPECT_TRUE(Has("1"));
  EXPECT_TRUE(Eventually([&] {
    return Slurp(directory_.Log()).find("its processes were not saved: criu dump: no luck") !=
           std::string::npos;
  }));
  Done();
  ASSERT_EQ(Wait(), 0);
  EXPECT_TRUE(Facts<RunEnded>().back().status.success());
}

// The command `muster` beside the supervisor decides, as it does on a node.
TEST_F(CriuAttempt, WhatTheQuotaRefusesIsNotKeptAndTheScriptGoesOn) {
  BatchThatStays();
  Every("1");
  const std::string ledger = tools_ / "ledger";
  order_.launch.program.environment.push_back("MUSTER_CHECKPOINT_LEDGER=" + ledger);
  order_.launch.checkpoint_quota.bytes = Bytes(1000);
  Start();
  ASSERT_TRUE(Eventually([&] { return Has("latest"); })) << Slurp(directory_.Log());
  const std::string counted = Slurp(ledger + "/ledger.json");
  EXPECT_THAT(counted, HasSubstr("\"directory\": \"" + Images() + "\""));
  EXPECT_THAT(counted, HasSubstr("\"job\": 7"));
  std::ofstream(tools_ / "pages") << std::string(2000, 'x');
  const std::string refusal =
      "its processes were not saved: over quota: 2 KiB more, 0 B kept, 1000";
  ASSERT_TRUE(Eventually([&] {
    return Slurp(directory_.Log()).find(refusal) != std::string::npos;
  })) << Slurp(directory_.Log());
  EXPECT_THAT(Slurp(ledger + "/ledger.json"), HasSubstr("\"refused\": \"over quota: 2 KiB more"));
  const absl::StatusOr<CriuImages> kept = CriuImages::Open(Images(), geteuid());
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_FALSE(kept->Restorable().empty());
  Done();
  ASSERT_EQ(Wait(), 0);
  EXPECT_TRUE(Facts<RunEnded>().back().status.success());
}

TEST_F(CriuAttempt, ADumpThatIsKilledIsFollowedByAWholeOne) {
  BatchThatStays();
  Every("1");
  Say("dump.kills");
  Start();
  ASSERT_TRUE(Eventually([&] { return Has("1"); }));
  EXPECT_FALSE(Has(".1"));
  EXPECT_THAT(Slurp(directory_.Log()), HasSubstr("signal 9"));
  Done();
  EXPECT_EQ(Wait(), 0);
}

TEST_F(CriuAttempt, OneThatIsPreemptedIsSavedAndNotAsked) {
  BatchThatStays();
  Start();
  ASSERT_TRUE(Eventually([&] { return Begun(); }));
  End(EndCause::kPreemptedToRequeue, kAnHour);
  ASSERT_EQ(Wait(), 0);
  EXPECT_EQ(Output(), "begun\n");
  EXPECT_EQ(Record().count, 1U);
  EXPECT_EQ(Record().notice, 1U);
  EXPECT_EQ(Facts<RunEnded>().back().cause, EndCause::kPreemptedToRequeue);
  EXPECT_TRUE(Has("1"));
}

TEST_F(CriuAttempt, OneThatCannotBeSavedAtItsEndIsAskedToEnd) {
  BatchThatStays();
  Say("dump.fails");
  Start();
  ASSERT_TRUE(Eventually([&] { return Begun(); }));
  End(EndCause::kPreemptedToRequeue, kAnHour);
  ASSERT_EQ(Wait(), 0);
  EXPECT_THAT(Output(), EndsWith("termed\n"));
  EXPECT_EQ(Record().count, 0U);
  EXPECT_EQ(Facts<RunEnded>().back().cause, EndCause::kPreemptedToRequeue);
}

TEST_F(CriuAttempt, OneThatIsCancelledIsNotSaved) {
  BatchThatStays();
  Start();
  ASSERT_TRUE(Eventually([&] { return Begun(); }));
  End(EndCause::kCancelled, kAnHour);
  ASSERT_EQ(Wait(), 0);
  EXPECT_THAT(Output(), EndsWith("termed\n"));
  EXPECT_EQ(Calls(), "");
}

TEST_F(CriuAttempt, ATimeLimitSavesWhatRunsAgain) {
  BatchThatStays();
  order_.launch.spec.requeue = Choice::kYes;
  order_.launch.spec.kill_grace = kAnHour;
  order_.launch.spec.time_limit = std::chrono::seconds(2);
  order_.launch.started = SystemClock().Now();
  EXPECT_EQ(RunToEnd().cause, EndCause::kTimeLimit);
  EXPECT_EQ(Output(), "begun\n");
  EXPECT_EQ(Record().notice, 1U);
}

TEST_F(CriuAttempt, WhatCannotBeRestoredIsSetAsideAndAtLastTheScriptBegins) {
  BatchThatStays();
  LetThereBe(2);
  Say("restore.fails");
  Done();
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_EQ(Calls(), "restore 2\nrestore 1\n");
  EXPECT_EQ(Output(), "begun\ndone\n");
  EXPECT_THAT(Slurp(directory_.Log()), HasSubstr("checkpoint 2 could not be restored: no luck"));
  EXPECT_EQ(Facts<RunStarted>().size(), 1U);
}

TEST_F(CriuAttempt, WhatWasSetAsideIsTriedOnceMoreWhenNothingElseIsLeft) {
  BatchThatStays();
  LetThereBe(2);
  CriuImages images = *CriuImages::Open(Images(), geteuid());
  for (const RestorableGeneration& generation : images.Restorable()) {
    images.SetAside(generation);
  }
  Say("restore.fails");
  Done();
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_EQ(Calls(), "restore 2\nrestore 1\n");
}

TEST_F(CriuAttempt, WhoSaysItRestoredAndDidNotIsNotBelieved) {
  BatchThatStays();
  LetThereBe(1);
  Done();
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_EQ(Output(), "begun\ndone\n");
  EXPECT_EQ(Calls(), "restore 1\n");
}

TEST_F(CriuAttempt, TheUsersVariablesDoNotReachWhatRestores) {
  BatchThatStays();
  LetThereBe(1);
  order_.launch.program.environment.push_back("LD_PRELOAD=/tmp/evil.so");
  order_.launch.program.environment.push_back("MINE=1");
  Done();
  EXPECT_TRUE(RunToEnd().status.success());
  const std::string variables = Slurp(tools_ / "restore.env");
  EXPECT_THAT(variables, HasSubstr("PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"));
  for (const char* name : {"LD_PRELOAD", "MINE", "MUSTER_", "SLURM_", "HOME"}) {
    EXPECT_THAT(variables, Not(HasSubstr(name)));
  }
}

TEST_F(CriuAttempt, ImagesThatOthersMayWriteAreNotRestored) {
  BatchThatStays();
  LetThereBe(2);
  ASSERT_EQ(chmod((Images() + "/2/mark").c_str(), 0666), 0);
  Say("restore.fails");
  Done();
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_EQ(Calls(), "restore 1\n");
  EXPECT_THAT(Slurp(directory_.Log()), HasSubstr("mark: others may write to it"));
}

TEST_F(CriuAttempt, TheFirstAttemptRestoresNothing) {
  BatchThatStays();
  LetThereBe(2);
  order_.launch.attempt = AttemptNumber(1);
  Done();
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_EQ(Calls(), "");
  EXPECT_EQ(Output(), "begun\ndone\n");
}

TEST_F(CriuAttempt, ItWaitsForAnIdThatAnotherProcessHasAndSetsNothingAside) {
  BatchThatStays();
  LetThereBe(1);
  const pid_t other = fork();
  if (other == 0) {
    pause();
    _exit(0);
  }
  std::ofstream(Images() + "/1/core-" + std::to_string(other) + ".img") << "";
  ASSERT_EQ(chmod((Images() + "/1/core-" + std::to_string(other) + ".img").c_str(), 0600), 0);
  Say("restore.fails");
  Done();
  Start();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_EQ(Calls(), "");
  EXPECT_TRUE(Has("1"));
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  ASSERT_EQ(Wait(), 0);
  EXPECT_EQ(Calls(), "restore 1\n");
  EXPECT_EQ(Output(), "begun\ndone\n");
}

TEST_F(CriuAttempt, AnIdThatIsTakenAfterItWasLookedForSetsNothingAside) {
  BatchThatStays();
  LetThereBe(1);
  Say("restore.clashes");  // once
  Say("restore.fails");
  Done();
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_EQ(Calls(), "restore 1\nrestore 1\n");
  EXPECT_THAT(Slurp(directory_.Log()), HasSubstr("checkpoint 1 waits: other processes have ids"));
}

TEST_F(CriuAttempt, ANodeWhereItDoesNotWorkSaysSo) {
  BatchThatStays();
  environment_.clear();
  const RunEnded ended = RunToEnd();
  EXPECT_EQ(ended.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(ended.text, HasSubstr("CRIU does not work on this node"));
}

// With the real one.
class RealCriuAttempt : public CriuAttempt {
 protected:
  void SetUp() override {
    const CriuFound found = Find(false);
    if (found.path.empty()) {
      GTEST_SKIP() << "SKIPPED: nothing is saved and restored here: "
                   << (found.why_not.empty() ? "CRIU is not installed" : found.why_not);
    }
    environment_ = {"MUSTER_CRIU=" + found.path};
    Batch(
        "trap 'echo termed; exit 3' TERM\n"
        "i=0; while [ ! -e done ]; do echo $i; i=$((i+1)); sleep 0.05; done; exit 42");
  }
  static CriuFound Find(bool as_user) {
    const char* const path = getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
    return FindCriu(path == nullptr ? "" : path, MUSTER_CRIU_PROGRAM, as_user,
                    std::chrono::seconds(30));
  }
  // The numbers that the script wrote.
  std::vector<int> Counted() const {
    std::istringstream lines(Output());
    std::vector<int> numbers;
    for (int number = 0; lines >> number;) {
      numbers.push_back(number);
    }
    return numbers;
  }
  void ExpectOneCount() const {
    const std::vector<int> numbers = Counted();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(numbers[i], static_cast<int>(i)) << Output();
    }
  }
  void PreemptAtThree() {
    Start();
    ASSERT_TRUE(Eventually([&] { return Counted().size() >= 3; }));
    End(EndCause::kPreemptedToRequeue, kAnHour);
    ASSERT_EQ(Wait(), 0) << Slurp(directory_.Log());
    ASSERT_TRUE(Has("1")) << Slurp(directory_.Log()) << Slurp(Images() + "/failed.log");
  }
  // The next attempt, in a directory of its own.
  void NextAttempt() {
    std::filesystem::remove_all(directory_.path());
    ASSERT_EQ(mkdir(directory_.path().c_str(), 0700), 0);
    order_.launch.attempt = AttemptNumber(order_.launch.attempt.value() + 1);
    order_.launch.started = SystemClock().Now();
  }
};

TEST_F(RealCriuAttempt, AScriptGoesOnWhereItWasSavedAndEndsWithItsOwnCode) {
  PreemptAtThree();
  const std::size_t before = Counted().size();
  NextAttempt();
  Start();
  ASSERT_TRUE(Eventually([&] { return Counted().size() >= before + 3; }))
      << Slurp(directory_.Log()) << Slurp(Images() + "/1/restore.log");
  EXPECT_TRUE(Eventually([&] { return Record().restart > Duration(0); }));
  Done();
  ASSERT_EQ(Wait(), 0);
  const RunEnded ended = Facts<RunEnded>().back();
  EXPECT_EQ(ended.cause, EndCause::kExited) << ended.text;
  EXPECT_EQ(ended.status.code, 42U);
  ExpectOneCount();
  EXPECT_FALSE(std::filesystem::exists(Images()));
}

TEST_F(RealCriuAttempt, APipelineGoesOnWithWhatIsInThePipe) {
  Batch(
      "{ i=0; while [ ! -e done ]; do echo $i; i=$((i+1)); sleep 0.02; done; } |\n"
      "while read -r n; do echo $n; sleep 0.03; done; exit 42");
  PreemptAtThree();
  NextAttempt();
  const std::size_t before = Counted().size();
  Start();
  ASSERT_TRUE(Eventually([&] { return Counted().size() >= before + 20; }))
      << Slurp(directory_.Log()) << Slurp(Images() + "/1/restore.log");
  Done();
  ASSERT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().back().status.code, 42U);
  ExpectOneCount();
}

TEST_F(RealCriuAttempt, OneThatWasRestoredIsSavedAndRestoredAgain) {
  PreemptAtThree();
  for (int attempt = 2; attempt <= 4; ++attempt) {
    NextAttempt();
    const std::size_t before = Counted().size();
    Start();
    ASSERT_TRUE(Eventually([&] { return Counted().size() >= before + 3; }))
        << Slurp(directory_.Log());
    End(EndCause::kPreemptedToRequeue, kAnHour);
    ASSERT_EQ(Wait(), 0);
  }
  EXPECT_TRUE(Has("4"));
  EXPECT_FALSE(Has("2"));
  ExpectOneCount();
}

TEST_F(RealCriuAttempt, ImagesThatAreDamagedAreSetAsideAndTheOnesBeforeRestored) {
  PreemptAtThree();
  NextAttempt();
  const std::size_t before = Counted().size();
  Start();
  ASSERT_TRUE(Eventually([&] { return Counted().size() >= before + 3; }));
  End(EndCause::kPreemptedToRequeue, kAnHour);
  ASSERT_EQ(Wait(), 0);
  ASSERT_EQ(truncate((Images() + "/2/pstree.img").c_str(), 9), 0);
  NextAttempt();
  Start();
  ASSERT_TRUE(Eventually([&] { return Has("2.failed"); })) << Slurp(directory_.Log());
  ASSERT_TRUE(Eventually([&] { return Record().restart > Duration(0); }))
      << Slurp(directory_.Log());
  Done();
  ASSERT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().back().status.code, 42U);
}

TEST_F(RealCriuAttempt, WhatWasRestoredTakesSignalsAndACancel) {
  PreemptAtThree();
  NextAttempt();
  const std::size_t before = Counted().size();
  Start();
  ASSERT_TRUE(Eventually([&] { return Counted().size() >= before + 3; }));
  End(EndCause::kCancelled, kAnHour);
  ASSERT_EQ(Wait(), 0);
  EXPECT_THAT(Output(), HasSubstr("termed"));
  EXPECT_EQ(Facts<RunEnded>().back().cause, EndCause::kCancelled);
}

TEST_F(RealCriuAttempt, AnotherUsersScriptIsSavedAndRestoredAsHim) {
  const passwd* const entry = getpwnam("nobody");  // NOLINT(concurrency-mt-unsafe): one thread
  if (geteuid() != 0 || entry == nullptr) {
    GTEST_SKIP() << "SKIPPED: only root can run jobs as another user";
  }
  const CriuFound found = Find(true);
  if (found.path.empty()) {
    GTEST_SKIP() << "SKIPPED: nobody's processes are not saved here: " << found.why_not;
  }
  order_.launch.spec.user = {.uid = entry->pw_uid, .gid = 0, .name = "nobody"};
  ASSERT_EQ(chown(work_.path().c_str(), entry->pw_uid, entry->pw_gid), 0);
  PreemptAtThree();
  struct stat image = {};
  ASSERT_EQ(stat((Images() + "/1/pstree.img").c_str(), &image), 0);
  EXPECT_EQ(image.st_uid, entry->pw_uid);
  NextAttempt();
  const std::size_t before = Counted().size();
  Start();
  ASSERT_TRUE(Eventually([&] { return Counted().size() >= before + 3; }))
      << Slurp(directory_.Log()) << Slurp(Images() + "/1/restore.log");
  Done();
  ASSERT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().back().status.code, 42U);
  ExpectOneCount();
}

}  // namespace
}  // namespace muster::agent
