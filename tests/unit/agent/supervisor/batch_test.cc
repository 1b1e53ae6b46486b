// Batch jobs through the real supervisor: launch, output, limits, and that nothing is left.
#include <gmock/gmock.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "agent/supervisor/attempt/journal.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"
#include "tests/unit/agent/supervisor/control_client.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using BatchTest = AttemptFixture;

pid_t PidIn(const std::string& text) {
  return static_cast<pid_t>(std::atoi(text.c_str()));
}

TEST_F(BatchTest, RunsAScriptOnceAndReportsItsOutputAndItsEnd) {
  Batch("echo out; echo err >&2; pwd; exit 5");
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.status.code, 5);
  EXPECT_EQ(end.status.signal, 0);
  EXPECT_EQ(Output(), "out\nerr\n" + work_.path() + "\n");
  const std::vector<Report> journal = Journal();
  ASSERT_THAT(journal, SizeIs(3));
  EXPECT_TRUE(std::holds_alternative<RunStarted>(journal[0].fact));
  EXPECT_TRUE(std::holds_alternative<BindingRead>(journal[1].fact));
  EXPECT_EQ(journal[2].job, JobId(7));
  EXPECT_EQ(journal[2].attempt, AttemptNumber(1));
}

TEST_F(BatchTest, ReportsTheSignalThatEndedTheScript) {
  Batch("kill -SEGV $$");
  EXPECT_EQ(RunToEnd().status.signal, SIGSEGV);
}

TEST_F(BatchTest, CountsTheCpuTimeOfWhatTheScriptRan) {
  Batch("/bin/sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'");
  const RunEnded end = RunToEnd();
  EXPECT_GT(end.usage.user_cpu + end.usage.system_cpu, Duration(20));
  EXPECT_GT(end.usage.peak_memory.value(), 500000u);
}

TEST_F(BatchTest, CountsWhatTheScriptsProgramsWroteHoweverShortTheyRan) {
  struct statfs where = {};
  ASSERT_EQ(statfs(work_.path().c_str(), &where), 0);
  if (access("/proc/self/io", R_OK) != 0 || where.f_type == TMPFS_MAGIC) {
    GTEST_SKIP() << "this kernel does not count storage, or there is none here";
  }
  Batch("dd if=/dev/zero of=data bs=1M count=3 conv=fsync 2>/dev/null");
  const RunEnded end = RunToEnd();
  ASSERT_TRUE(end.usage.read_bytes.has_value());
  EXPECT_GE(end.usage.written_bytes, kMebibyte * 3);
  EXPECT_LT(end.usage.written_bytes, kMebibyte * 30);
}

TEST_F(BatchTest, PassesTheArgumentsAndTheUmask) {
  Batch("echo \"$1|$2\"; umask");
  order_.launch.program.argv = {"one two", "$HOME"};
  order_.launch.program.umask = 027;
  EXPECT_EQ(RunToEnd().status.code, 0);
  EXPECT_EQ(Output(), "one two|$HOME\n0027\n");
  struct stat file = {};
  ASSERT_EQ(stat((work_ / "muster-7.out").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, mode_t{0640});
}

TEST_F(BatchTest, NamesTheOutputOfAnArrayElementByArrayAndIndex) {
  Batch("echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $MUSTER_ARRAY_TASK_COUNT");
  order_.launch.submission = JobId(4);
  order_.launch.array_index = 3;
  ArraySpec array;
  array.ranges = {{.first = 0, .last = 9, .step = 1}};
  order_.launch.spec.array = array;
  EXPECT_EQ(RunToEnd().status.code, 0);
  EXPECT_EQ(Slurp(work_ / "muster-4_3.out"), "4 3 10\n");
}

TEST_F(BatchTest, SeparatesErrorsWhenTheyHaveAPathAndAppendsWhenAsked) {
  Batch("echo out; echo err >&2; cat");
  order_.launch.program.stdout_path = "%x-%N.log";
  order_.launch.program.stderr_path = work_ / "errors.%j";
  order_.launch.program.stdin_path = "input";
  order_.launch.program.append_output = true;
  std::ofstream(work_ / "input") << "from the input\n";
  std::ofstream(work_ / "errors.7") << "before\n";
  EXPECT_EQ(RunToEnd().status.code, 0);
  EXPECT_EQ(Slurp(work_ / "a job-node1.log"), "out\nfrom the input\n");
  EXPECT_EQ(Slurp(work_ / "errors.7"), "before\nerr\n");
}

TEST_F(BatchTest, SaysWhichOutputCannotBeOpenedAndWhy) {
  Batch("true");
  order_.launch.program.stdout_path = "/proc/1/nowhere/out";
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_EQ(end.status.code, 126);
  EXPECT_EQ(end.text, "cannot open output /proc/1/nowhere/out: No such file or directory");
  EXPECT_THAT(Facts<RunStarted>(), IsEmpty());
}

TEST_F(BatchTest, DoesNotWaitForAReaderOfAFifo) {
  Batch("true");
  ASSERT_EQ(mkfifo((work_ / "pipe").c_str(), 0600), 0);
  order_.launch.program.stdout_path = "pipe";
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(end.text, HasSubstr("FIFO that no process reads"));
}

TEST_F(BatchTest, SaysThatTheWorkingDirectoryIsMissing) {
  Batch("true");
  order_.launch.program.work_dir = "/nowhere/at/all";
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_EQ(end.text,
            "cannot enter the working directory /nowhere/at/all: No such file or directory")
      << "the controller says where";
}

TEST_F(BatchTest, SaysThatTheInterpreterIsMissing) {
  Batch("true");
  order_.launch.program.script = "#!/no/such/shell -x\ntrue\n";
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_EQ(end.status.code, 127);
  EXPECT_EQ(end.text,
            "cannot run the batch script: its interpreter /no/such/shell: No such file or "
            "directory");
}

TEST_F(BatchTest, SaysThatAScriptWithoutAnInterpreterCannotRun) {
  order_.launch.program.script = "echo hello\n";
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_EQ(end.status.code, 126);
  EXPECT_THAT(end.text, HasSubstr("#!/bin/sh"));
}

TEST_F(BatchTest, GivesTheScriptTheNamesOfSlurmAndNothingStale) {
  Batch("env");
  order_.launch.program.environment = {"PATH=/usr/bin:/bin", "SLURM_JOB_ID=999", "RANK=3",
                                       "PMIX_RANK=1",        "HOSTNAME=login",   "KEPT=yes"};
  EXPECT_EQ(RunToEnd().status.code, 0);
  const std::string text = "\n" + Output();
  for (const char* line :
       {"SLURM_JOB_ID=7", "MUSTER_JOB_ID=7", "SLURM_JOB_NODELIST=node1", "SLURM_NNODES=1",
        "SLURM_NTASKS=1", "SLURM_SUBMIT_HOST=login", "KEPT=yes", "CUDA_VISIBLE_DEVICES=",
        "MUSTER_CONTROLLER=unix:/nowhere/controller.sock", "SLURM_RESTART_COUNT=0"}) {
    EXPECT_THAT(text, HasSubstr("\n" + std::string(line) + "\n"));
  }
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\nRANK=")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("PMIX_RANK")));
}

TEST_F(BatchTest, ReadsBackThatTheScriptIsBoundToItsCores) {
  Batch("grep Cpus_allowed_list /proc/self/status; sleep 0.2");
  order_.launch.allocation.nodes[0].cpus = CpuSet::Of({cpus_.back()});
  EXPECT_EQ(RunToEnd().status.code, 0);
  EXPECT_THAT(Output(), HasSubstr(":\t" + std::to_string(cpus_.back()) + "\n"));
  const std::vector<BindingRead> read = Facts<BindingRead>();
  ASSERT_THAT(read, SizeIs(1));
  ASSERT_THAT(read[0].ranks, SizeIs(1));
  EXPECT_EQ(read[0].ranks[0].verdict, BindingVerdict::kVerified) << read[0].ranks[0].text;
  EXPECT_EQ(read[0].ranks[0].cpus, CpuSet::Of({cpus_.back()}));
  EXPECT_EQ(read[0].ranks[0].step, StepId());
}

TEST_F(BatchTest, ReportsACoreThatCannotBeHad) {
  Batch("true");
  CpuSet absent = CpuSet::Of({4000});
  order_.launch.allocation.nodes[0].cpus = absent;
  EXPECT_EQ(RunToEnd().status.code, 0);
  const RankBinding read = Facts<BindingRead>().at(0).ranks.at(0);
  EXPECT_EQ(read.verdict, BindingVerdict::kDiffers);
  EXPECT_THAT(read.text, HasSubstr("instead of 4000"));
  EXPECT_THAT(read.text, HasSubstr("Invalid argument"));
}

TEST_F(BatchTest, BindsNothingOnAMachineThatIsOnlyPlayed) {
  Batch("true");
  order_.machine.enforced = false;
  order_.machine.why_not_enforced = "it plays big.xml";
  order_.launch.allocation.nodes[0].cpus = CpuSet::Of({4000});
  EXPECT_EQ(RunToEnd().status.code, 0);
  EXPECT_EQ(Facts<BindingRead>().at(0).ranks.at(0).verdict, BindingVerdict::kNotEnforced);
  EXPECT_EQ(Facts<RunStarted>().at(0).limits, "not enforced (it plays big.xml)");
}

TEST_F(BatchTest, EndsAScriptThatIgnoresSigtermAtItsTimeLimit) {
  Batch("trap '' TERM; echo started; while :; do sleep 0.05; done");
  order_.launch.spec.time_limit = Duration(2000);  // a busy machine needs a while to set the trap
  order_.launch.spec.kill_grace = Duration(300);
  const auto begin = std::chrono::steady_clock::now();
  const RunEnded end = RunToEnd();
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(end.cause, EndCause::kTimeLimit);
  EXPECT_EQ(end.status.signal, SIGKILL);
  EXPECT_THAT(end.text, HasSubstr("time limit"));
  EXPECT_GE(took, std::chrono::milliseconds(2100));
  EXPECT_LT(took, std::chrono::seconds(10));
}

TEST_F(BatchTest, LetsAScriptCleanUpAtItsTimeLimit) {
  Batch("trap 'echo cleaned; exit 9' TERM; while :; do sleep 0.05; done");
  order_.launch.spec.time_limit = Duration(2000);  // a busy machine needs a while to set the trap
  order_.launch.spec.kill_grace = Duration(20000);
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kTimeLimit);
  EXPECT_EQ(end.status.code, 9);
  EXPECT_THAT(Output(), HasSubstr("cleaned\n"));
}

TEST_F(BatchTest, LeavesNoDaemonBehind) {
  // Forked twice into a session of its own, deaf to SIGTERM.
  Batch(
      "(setsid sh -c 'trap \"\" TERM HUP; echo $$ > daemon; while :; do sleep 0.05; done' &) &\n"
      "while [ ! -s daemon ]; do sleep 0.01; done; exit 3");
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.status.code, 3);
  const pid_t daemon = PidIn(Slurp(work_ / "daemon"));
  ASSERT_GT(daemon, 1);
  EXPECT_TRUE(absl::IsNotFound(ReadIdentity(daemon).status()));
}

TEST_F(BatchTest, LetsAPipeOfTheScriptRunDry) {
  Batch("(sleep 0.05; echo late) & exit 0");
  EXPECT_EQ(RunToEnd().status.code, 0);
  EXPECT_EQ(Output(), "late\n");
}

TEST_F(BatchTest, IsSupervisedOnce) {
  Batch("echo once; until [ -e go ]; do sleep 0.02; done");
  Start();
  ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  const absl::StatusOr<ProcessIdentity> claim = ReadClaim(directory_);
  ASSERT_TRUE(claim.ok());
  EXPECT_EQ(claim->pid, supervisor_);
  EXPECT_TRUE(IsAlive(*claim).value());
  const pid_t first = supervisor_;
  Start();
  EXPECT_EQ(Wait(), 3);
  std::ofstream(work_ / "go") << "go\n";
  supervisor_ = first;
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Output(), "once\n");
  EXPECT_THAT(Facts<RunEnded>(), SizeIs(1));
}

TEST_F(BatchTest, SurvivesEverySignalButSigkill) {
  Batch("until [ -e go ]; do sleep 0.02; done; exit 4");
  Start();
  ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1}) {
    kill(supervisor_, signal);
    const std::string line = "signal " + std::to_string(signal) + " from pid";
    EXPECT_TRUE(Eventually([&] { return Slurp(directory_.Log()).find(line) != std::string::npos; }))
        << line;
  }
  EXPECT_TRUE(Facts<RunEnded>().empty());
  std::ofstream(work_ / "go") << "go\n";
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).status.code, 4);
}

TEST_F(BatchTest, TakesItsProcessesAlongWhenItIsKilled) {
  Batch("echo $$ > pid; while :; do sleep 0.05; done");
  Start();
  ASSERT_TRUE(Eventually([&] { return !Slurp(work_ / "pid").empty(); }));
  kill(supervisor_, SIGKILL);
  EXPECT_EQ(Wait(), 128 + SIGKILL);
  const pid_t script = PidIn(Slurp(work_ / "pid"));
  EXPECT_TRUE(Eventually([&] {
    const absl::StatusOr<ProcessIdentity> identity = ReadIdentity(script);
    return !identity.ok() || !IsAlive(*identity).value_or(true);
  }));
}

TEST_F(BatchTest, EndsWhenToldSoThroughTheControlSocket) {
  Batch("sleep 1000");
  Start();
  ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  TerminateOrder order;
  order.job = JobId(8);
  order.attempt = AttemptNumber(1);
  EXPECT_TRUE(absl::IsFailedPrecondition(SendTerminate(directory_, order)));
  order.job = JobId(7);
  order.cause = EndCause::kCancelled;
  order.grace = Duration(5000);
  EXPECT_TRUE(SendTerminate(directory_, order).ok());
  EXPECT_EQ(Wait(), 0);
  const RunEnded end = Facts<RunEnded>().at(0);
  EXPECT_EQ(end.cause, EndCause::kCancelled);
  EXPECT_EQ(end.status.signal, SIGTERM);
  EXPECT_TRUE(absl::IsUnavailable(SendTerminate(directory_, order)));
}

TEST_F(BatchTest, WaitsOnTheOtherNodesUntilTheJobEnds) {
  Batch("echo not here");
  NodeAllocation first = order_.launch.allocation.nodes[0];
  first.name = "node0";
  order_.launch.allocation.nodes.insert(order_.launch.allocation.nodes.begin(), first);
  Start();
  ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  TerminateOrder order;
  order.job = JobId(7);
  order.attempt = AttemptNumber(1);
  order.cause = EndCause::kJobEnding;
  EXPECT_TRUE(SendTerminate(directory_, order).ok());
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).cause, EndCause::kJobEnding);
  EXPECT_TRUE(Facts<RunEnded>().at(0).status.success());
  EXPECT_EQ(Output(), "");
}

TEST_F(BatchTest, RecordsAnOrderThatCannotBeRead) {
  Batch("true");
  std::ofstream(directory_.Order()) << "not an order";
  SpawnRequest request;
  request.program = MUSTER_SUPERVISOR;
  request.arguments = {"muster-supervisor", "--dir", directory_.path()};
  supervisor_ = Spawn(request).value();
  EXPECT_EQ(Wait(), 1);
  EXPECT_EQ(Facts<RunEnded>().at(0).cause, EndCause::kLaunchFailed);
}

}  // namespace
}  // namespace muster::agent
