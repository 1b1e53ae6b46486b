// Steps through the real supervisor: ranks, their binding, their streams, their ends.
#include <gmock/gmock.h>
#include <signal.h>

#include <set>

#include "agent/supervisor/limits/process_tree.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"
#include "tests/unit/agent/supervisor/control_client.h"
#include "tests/unit/agent/supervisor/run_client.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

class StepTest : public AttemptFixture {
 protected:
  StepOrder OrderOf(std::vector<std::string> argv, std::uint32_t ranks, std::uint32_t step) {
    StepOrder order;
    order.job = JobId(7);
    order.attempt = AttemptNumber(1);
    order.step = StepId(step);
    order.program.argv = std::move(argv);
    order.program.work_dir = work_.path();
    order.program.environment = {"PATH=/usr/bin:/bin"};
    order.program.mpi = MpiFlavour::kNone;
    order.placement = Placement(ranks);
    return order;
  }
  // A watched run job of `ranks` ranks.
  void Watched(RunClient* client, std::vector<std::string> argv, std::uint32_t ranks) {
    RunJob(std::move(argv), ranks);
    order_.launch.program.io.address = client->Address();
    order_.launch.program.io.token = kToken;
    order_.launch.program.mpi = MpiFlavour::kNone;
  }
};

TEST_F(StepTest, RunsTheRanksOfARunJobEachWithItsNumbers) {
  RunJob({"sh", "-c",
          "echo $RANK/$WORLD_SIZE $SLURM_PROCID $LOCAL_RANK $SLURM_STEP_ID $OMP_NUM_THREADS "
          "$OMP_PROC_BIND $SLURM_TASK_PID $$ > rank$RANK"},
         2);
  order_.launch.program.mpi = MpiFlavour::kNone;
  const RunEnded end = RunToEnd();
  EXPECT_TRUE(end.status.success());
  EXPECT_EQ(end.cause, EndCause::kExited);
  for (const char* rank : {"0", "1"}) {
    const std::string text = Slurp(work_ / (std::string("rank") + rank));
    EXPECT_THAT(text, HasSubstr(std::string(rank) + "/2 " + rank + " " + rank + " 1 1 close "));
    const std::string pids = text.substr(text.find("close ") + 6);
    EXPECT_EQ(pids.substr(0, pids.find(' ')) + "\n", pids.substr(pids.find(' ') + 1));
  }
  const std::vector<StepEnded> ended = Facts<StepEnded>();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].step, StepId(1));
  EXPECT_THAT(ended[0].ranks, SizeIs(2));
}

TEST_F(StepTest, BindsTwoRanksToDifferentCoresAndVerifiesIt) {
  if (cpus_.size() < 2) {
    GTEST_SKIP() << "needs two cores, this machine gives " << cpus_.size();
  }
  RunJob({"sh", "-c", "grep Cpus_allowed_list /proc/self/status > rank$RANK; sleep 0.1"}, 2);
  order_.launch.program.mpi = MpiFlavour::kNone;
  EXPECT_TRUE(RunToEnd().status.success());
  const std::vector<BindingRead> read = Facts<BindingRead>();
  ASSERT_THAT(read, SizeIs(1));
  ASSERT_THAT(read[0].ranks, SizeIs(2));
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(read[0].ranks[rank].rank, rank);
    EXPECT_EQ(read[0].ranks[rank].verdict, BindingVerdict::kVerified) << read[0].ranks[rank].text;
    EXPECT_EQ(read[0].ranks[rank].cpus, CpuSet::Of({cpus_[rank]}));
    EXPECT_THAT(Slurp(work_ / ("rank" + std::to_string(rank))),
                HasSubstr(":\t" + std::to_string(cpus_[rank]) + "\n"));
  }
}

TEST_F(StepTest, ReportsTheFirstRankThatFailed) {
  RunJob({"sh", "-c", "exit $((RANK * 3))"}, 2);
  order_.launch.program.mpi = MpiFlavour::kNone;
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.status.code, 3);
  EXPECT_EQ(end.cause, EndCause::kExited);
}

TEST_F(StepTest, EndsThePeersOfARankThatASignalKilled) {
  RunJob({"sh", "-c", "[ $RANK = 1 ] && kill -9 $$; exec sleep 1000"}, 2);
  order_.launch.program.mpi = MpiFlavour::kNone;
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.status.signal, SIGKILL);
}

TEST_F(StepTest, SaysThatACommandIsNotFound) {
  RunJob({"no-such-command-here"}, 2);
  order_.launch.program.mpi = MpiFlavour::kNone;
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_EQ(end.status.code, 127);
  EXPECT_THAT(end.text, ::testing::MatchesRegex(
                            "rank [01]: cannot run no-such-command-here: not found along PATH"));
}

TEST_F(StepTest, RefusesMpiOverSeveralNodesWithoutTheAttemptsSecret) {
  RunJob({"true"}, 1);
  order_.module_dir = MUSTER_PMIX_DIRECTORY;
  NodeAllocation other = order_.launch.allocation.nodes[0];
  other.name = "node2";
  other.ranks[0].rank = 1;
  order_.launch.allocation.nodes.push_back(other);
  order_.launch.program.mpi = MpiFlavour::kPmix;
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(end.text, HasSubstr("no secret"));
}

TEST_F(StepTest, RunsWithoutPmixWhenItsModuleIsMissingAndSaysSo) {
  RunJob({"true"}, 2);
  order_.module_dir = "/nowhere";
  EXPECT_TRUE(RunToEnd().status.success());
  EXPECT_THAT(Facts<BindingRead>().at(0).ranks.at(0).text,
              HasSubstr("libmuster-pmix.so not found"));
}

TEST_F(StepTest, StartsAStepOfABatchJobThroughTheControlSocketOnce) {
  Batch("echo script; while [ ! -e stop ]; do sleep 0.02; done");
  Start();
  ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  const StepOrder order = OrderOf({"sh", "-c", "echo rank $RANK of $SLURM_STEP_ID"}, 2, 3);
  EXPECT_TRUE(SendStep(directory_, order).ok());
  EXPECT_TRUE(SendStep(directory_, order).ok());
  ASSERT_TRUE(Eventually([&] { return !Facts<StepEnded>().empty(); }));
  const StepEnded ended = Facts<StepEnded>().at(0);
  EXPECT_EQ(ended.step, StepId(3));
  EXPECT_TRUE(ended.ranks.at(0).status.success());
  EXPECT_TRUE(SendStep(directory_, OrderOf({"touch", "stop"}, 1, 4)).ok());
  EXPECT_EQ(Wait(), 0);
  EXPECT_THAT(Facts<StepEnded>(), SizeIs(2));
  const std::string output = Output();
  EXPECT_THAT(output, HasSubstr("script\n"));
  EXPECT_THAT(output, HasSubstr("rank 0 of 3\n"));
  EXPECT_THAT(output, HasSubstr("rank 1 of 3\n"));
}

TEST_F(StepTest, TakesAStepsOrderOfAMegabyte) {
  Batch("while [ ! -e stop ]; do sleep 0.02; done");
  Start();
  ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  StepOrder order = OrderOf({"sh", "-c", "env | wc -c > size; touch stop"}, 1, 1);
  for (int i = 0; i < 20; ++i) {
    order.program.environment.push_back("BIG" + std::to_string(i) + "=" + std::string(50000, 'x'));
  }
  EXPECT_TRUE(SendStep(directory_, order).ok());
  EXPECT_EQ(Wait(), 0);
  ASSERT_THAT(Facts<StepEnded>(), SizeIs(1));
  EXPECT_TRUE(Facts<StepEnded>().at(0).ranks.at(0).status.success());
  order.program.environment.push_back("MORE=" + std::string(5000000, 'x'));
  EXPECT_TRUE(absl::IsInvalidArgument(SendStep(directory_, order)));
}

TEST_F(StepTest, EndsStepsThatOutliveTheBatchScript) {
  Batch("while [ ! -e running ]; do sleep 0.02; done; exit 2");
  Start();
  ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  EXPECT_TRUE(SendStep(directory_, OrderOf({"sh", "-c",
                                            "trap '' TERM; touch running; "
                                            "while :; do sleep 0.05; done"},
                                           1, 1))
                  .ok());
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<StepEnded>().at(0).ranks.at(0).status.signal, SIGKILL);
  EXPECT_EQ(Facts<RunEnded>().at(0).status.code, 2);
}

TEST_F(StepTest, StreamsTenMegabytesFromEachRankToTheWatcher) {
  RunClient client(work_ / "io");
  Watched(&client, {"sh", "-c", "head -c 10000000 /dev/zero | tr '\\0' $RANK; echo e >&2"}, 2);
  Start();
  const std::optional<wire::StepHello> hello = client.Accept();
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->token(), "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(hello->ranks(), 2u);
  EXPECT_EQ(hello->node(), "node1");
  const RunClient::Gathered all = client.Gather();
  EXPECT_TRUE(all.done);
  EXPECT_EQ(all.output.size(), 20000000u);
  EXPECT_EQ(std::count(all.output.begin(), all.output.end(), '1'), 10000000);
  EXPECT_EQ(all.error, "e\ne\n");
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Output(), "");
}

TEST_F(StepTest, HoldsARankBackWhileNobodyTakesItsOutput) {
  RunClient client(work_ / "io");
  Watched(&client, {"sh", "-c", "head -c 50000000 /dev/zero; touch finished"}, 1);
  Start();
  ASSERT_TRUE(client.Accept().has_value());
  ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  const auto peak_kb = [&] {
    const std::string text = Slurp("/proc/" + std::to_string(supervisor_) + "/status");
    const std::size_t at = text.find("VmHWM:");
    return at == std::string::npos ? 0 : std::atol(text.c_str() + at + 6);
  };
  const long before = peak_kb();
  ASSERT_GT(before, 0);
  for (int i = 0; i < 100; ++i) {
    Pause();
  }
  EXPECT_LT(peak_kb() - before, 20000) << "kB: the output piles up in the supervisor";
  EXPECT_NE(access((work_ / "finished").c_str(), F_OK), 0);
  EXPECT_EQ(client.Gather().output.size(), 50000000u);
  EXPECT_EQ(Wait(), 0);
}

TEST_F(StepTest, GivesItsInputToRankZeroAlone) {
  RunClient client(work_ / "io");
  Watched(&client, {"sh", "-c", "cat; exit $RANK"}, 2);
  Start();
  ASSERT_TRUE(client.Accept().has_value());
  const std::string much(300000, 'i');
  client.SendInput(much);
  client.SendInput("end");
  client.SendInput("");
  const RunClient::Gathered all = client.Gather();
  EXPECT_EQ(all.output, much + "end");
  EXPECT_THAT(all.exits, HasSubstr("0:0:0 "));
  EXPECT_THAT(all.exits, HasSubstr("1:1:0 "));
  EXPECT_EQ(Wait(), 0);
}

TEST_F(StepTest, GivesItsInputToTheRanksThatAreNamed) {
  const std::string much(300000, 'i');
  RunClient client(work_ / "io");
  Watched(&client, {"sh", "-c", "[ $(wc -c) = 300000 ]; exit $?"}, 3);
  order_.launch.program.stdin_path = "all";
  Start();
  ASSERT_TRUE(client.Accept().has_value());
  client.SendInput(much);
  client.SendInput("");
  const RunClient::Gathered all = client.Gather();
  for (const char* exit : {"0:0:0 ", "1:0:0 ", "2:0:0 "}) {
    EXPECT_THAT(all.exits, HasSubstr(exit));
  }
  EXPECT_EQ(Wait(), 0);
}

TEST_F(StepTest, TellsTheEndToAWatcherThatSendsMuchAndReadsLate) {
  RunClient client(std::vector<std::string>{kToken});
  Watched(&client,
          {"sh", "-c", "head -c 300000 /dev/zero; while ! [ -e go ]; do sleep 0.02; done; exit 7"},
          1);
  Start();
  ASSERT_TRUE(client.Accept().has_value());
  client.SendInputUntilFull();  // which the rank does not read
  ASSERT_TRUE(WriteFileAtomically(work_ / "go", "").ok());
  ASSERT_TRUE(Eventually([&] { return !Facts<RunEnded>().empty(); }));
  const RunClient::Gathered all = client.Gather();
  EXPECT_EQ(all.output.size(), 300000u);
  EXPECT_EQ(all.exits, "0:7:0 ");
  EXPECT_TRUE(all.done);
  EXPECT_EQ(Wait(), 0);
}

TEST_F(StepTest, SaysNothingByTcpToWhoHasAnotherToken) {
  RunClient client(std::vector<std::string>{"fedcba9876543210fedcba9876543210"});
  Watched(&client, {"sleep", "1000"}, 1);
  Start();
  EXPECT_FALSE(client.Accept().has_value());
  client.Close();
  EXPECT_EQ(Wait(), 0);
}

TEST_F(StepTest, HearsASignalBehindInputThatNoRankTakes) {
  RunClient client(std::vector<std::string>{kToken});
  Watched(&client, {"sh", "-c", "trap 'exit 9' USR1; echo ready; while :; do sleep 0.02; done"}, 1);
  Start();
  const std::optional<wire::StepHello> hello = client.Accept();
  ASSERT_TRUE(hello.has_value());
  ASSERT_GE(hello->input_room(), 2 * 60000u);
  wire::StepFrame input;
  input.mutable_input()->set_within_room(true);
  input.mutable_input()->set_data(std::string(60000, 'i'));
  std::uint64_t room = hello->input_room();
  const auto use_up = [&] {
    for (; room >= input.input().data().size(); room -= input.input().data().size()) {
      client.Send(input);
    }
  };
  use_up();
  // The supervisor keeps a mebibyte of what the rank does not take, and grants room again until
  // then.
  for (int granted = 0; granted < 3; ++granted) {
    const std::optional<wire::StepFrame> told = client.Next();
    ASSERT_TRUE(told.has_value() && (told->has_input_room() || told->has_output()));
    granted -= told->has_output() ? 1 : 0;
    room += told->input_room().bytes();
  }
  use_up();
  wire::StepFrame signal;
  signal.mutable_signal()->set_signal(SIGUSR1);
  client.Send(signal);
  EXPECT_EQ(client.Gather().exits, "0:9:0 ");
  EXPECT_EQ(Wait(), 0);
}

TEST_F(StepTest, LosesAWatcherThatSendsMoreThanItsRoom) {
  RunClient client(work_ / "io");
  Watched(&client, {"sleep", "1000"}, 1);
  Start();
  ASSERT_TRUE(client.Accept().has_value());
  wire::StepFrame input;
  input.mutable_input()->set_within_room(true);
  input.mutable_input()->set_data(std::string(2000000, 'i'));
  client.Send(input);
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).status.signal, SIGTERM);
}

TEST_F(StepTest, TellsAWatcherThatStopsThatNobodyTakesItsInput) {
  RunClient client(work_ / "io");
  Watched(&client, {"sh", "-c", "exec <&-; echo closed; exec sleep 1000"}, 1);
  Start();
  ASSERT_TRUE(client.Accept().has_value());
  ASSERT_TRUE(client.Next().has_value());
  wire::StepFrame input;
  input.mutable_input()->set_data("to nobody");
  client.Send(input);
  input.mutable_input()->set_stops(true);
  client.Send(input);
  const std::optional<wire::StepFrame> told = client.Next();
  ASSERT_TRUE(told.has_value());
  EXPECT_TRUE(told->has_input_closed());
  client.Send(input);
  wire::StepFrame signal;
  signal.mutable_signal()->set_signal(SIGTERM);
  client.Send(signal);
  const std::optional<wire::StepFrame> next = client.Next();
  ASSERT_TRUE(next.has_value());
  EXPECT_TRUE(next->has_exit()) << "it is told once";
  client.Close();
  EXPECT_EQ(Wait(), 0);
}

TEST_F(StepTest, HearsWhatARankSaysThroughPmiJustBeforeItEnds) {
  RunJob({"sh", "-c",
          "{ echo cmd=init pmi_version=1 pmi_subversion=1; i=0; while [ $i -lt 500 ]; do "
          "echo cmd=put key=k$i value=v; i=$((i+1)); done; echo cmd=abort exitcode=9; } >said; "
          "touch ready; while ! [ -e go ]; do sleep 0.02; done; cat said >&3; echo $$ >gone"},
         1);
  order_.launch.program.mpi = MpiFlavour::kPmi1;
  Start();
  ASSERT_TRUE(Eventually([&] { return access((work_ / "ready").c_str(), F_OK) == 0; }));
  kill(supervisor_, SIGSTOP);  // so that it finds the rank's words and its end at once
  ASSERT_TRUE(WriteFileAtomically(work_ / "go", "").ok());
  ASSERT_TRUE(Eventually([&] { return !Slurp(work_ / "gone").empty(); }));
  const std::string stat =
      "/proc/" + Slurp(work_ / "gone").substr(0, Slurp(work_ / "gone").size() - 1) + "/stat";
  ASSERT_TRUE(Eventually([&] { return Slurp(stat).find(") Z ") != std::string::npos; }));
  kill(supervisor_, SIGCONT);
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).status.code, 9);
}

TEST_F(StepTest, PassesSignalsToEveryRank) {
  RunClient client(work_ / "io");
  Watched(&client, {"sh", "-c", "trap 'exit 5' INT; echo ready; while :; do sleep 0.02; done"}, 2);
  Start();
  ASSERT_TRUE(client.Accept().has_value());
  std::string ready;
  while (ready.size() < 12) {
    const std::optional<wire::StepFrame> frame = client.Next();
    ASSERT_TRUE(frame.has_value());
    ready += frame->output().data();
  }
  wire::StepFrame frame;
  frame.mutable_signal()->set_signal(SIGINT);
  client.Send(frame);
  EXPECT_EQ(client.Gather().exits.size(), std::string("0:5:0 1:5:0 ").size());
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).status.code, 5);
}

TEST_F(StepTest, EndsTheRanksWhenTheWatcherIsGone) {
  RunClient client(work_ / "io");
  Watched(&client, {"sh", "-c", "echo here; exec sleep 1000"}, 1);
  Start();
  ASSERT_TRUE(client.Accept().has_value());
  ASSERT_TRUE(client.Next().has_value());
  client.Close();
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).status.signal, SIGTERM);
}

TEST_F(StepTest, SaysThatTheWatcherCannotBeReached) {
  RunJob({"true"}, 1);
  order_.launch.program.io = {.address = "unix:" + (work_ / "nobody"),
                              .token = std::string(32, 'a')};
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(end.text, HasSubstr("muster run"));
}

TEST_F(StepTest, SaysNothingToAWatcherWhoseTokenIsNone) {
  RunClient client(work_ / "io");
  Watched(&client, {"touch", work_ / "ran"}, 1);
  order_.launch.program.io.token = "\r\nBEGIN\r\n";
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(end.text, HasSubstr("not 32 lower-case hex digits"));
  EXPECT_NE(access((work_ / "ran").c_str(), F_OK), 0);
}

TEST_F(StepTest, DoesNotWaitForAnOutputThatADaemonKeepsOpen) {
  RunClient client(work_ / "io");
  Watched(&client, {"sh", "-c", "sleep 1000 & echo out"}, 1);
  Start();
  ASSERT_TRUE(client.Accept().has_value());
  const RunClient::Gathered all = client.Gather();
  EXPECT_TRUE(all.done);
  EXPECT_EQ(all.output, "out\n");
  EXPECT_EQ(Wait(), 0);
}

TEST_F(StepTest, MakesOneWorldOfTwoMpiRanks) {
  RunJob({MUSTER_MPI_RING}, 2);
  order_.module_dir = MUSTER_PMIX_DIRECTORY;
  const RunEnded end = RunToEnd();
  EXPECT_TRUE(end.status.success()) << Output() << Slurp(directory_.Log());
  EXPECT_THAT(Output(), HasSubstr("rank 0 size 2 sum 1 ring 2 local 0 of 2\n"));
  EXPECT_THAT(Output(), HasSubstr("rank 1 size 2 sum 1 ring 2 local 1 of 2\n"));
}

TEST_F(StepTest, LetsASingleMpiRankBeAWorldOfItsOwn) {
  RunJob({MUSTER_MPI_RING}, 1);
  order_.module_dir = MUSTER_PMIX_DIRECTORY;
  EXPECT_TRUE(RunToEnd().status.success()) << Output();
  EXPECT_THAT(Output(), HasSubstr("rank 0 size 1"));
}

TEST_F(StepTest, LeavesMpirunUsableInABatchScript) {
  Batch(std::string("mpirun -n 1 ") + MUSTER_MPI_RING);
  order_.launch.program.environment.push_back("OMPI_ALLOW_RUN_AS_ROOT=1");
  order_.launch.program.environment.push_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
  EXPECT_TRUE(RunToEnd().status.success()) << Output();
  EXPECT_THAT(Output(), HasSubstr("rank 0 size 1"));
}

TEST_F(StepTest, TakesTheCodeOfMpiAbort) {
  RunJob({MUSTER_MPI_RING, "--abort", "7"}, 2);
  order_.module_dir = MUSTER_PMIX_DIRECTORY;
  const RunEnded end = RunToEnd();
  EXPECT_EQ(end.status.code, 7) << Output();
  EXPECT_EQ(end.cause, EndCause::kExited);
}

TEST_F(StepTest, EndsAnMpiStepWhenOneOfItsRanksIsKilled) {
  RunJob({"sh", "-c", std::string("echo $$ > pid$RANK; exec ") + MUSTER_MPI_RING + " --hang"}, 2);
  order_.module_dir = MUSTER_PMIX_DIRECTORY;
  Start();
  ASSERT_TRUE(Eventually([&] { return Output().find("rank 1") != std::string::npos; }));
  kill(static_cast<pid_t>(std::stoi(Slurp(work_ / "pid1"))), SIGKILL);
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).status.signal, SIGKILL);
}

TEST_F(StepTest, EndsAnMpiStepWhoseServerIsKilledAndServesTheNextOne) {
  Batch("while [ ! -e stop ]; do sleep 0.02; done");
  order_.module_dir = MUSTER_PMIX_DIRECTORY;
  Start();
  ASSERT_TRUE(Eventually([&] { return !Facts<RunStarted>().empty(); }));
  StepOrder order = OrderOf({"sh", "-c", "echo $PPID > parent; exec sleep 1000"}, 2, 3);
  order.program.mpi = MpiFlavour::kPmix;
  EXPECT_TRUE(SendStep(directory_, order).ok());
  ASSERT_TRUE(Eventually([&] { return !Slurp(work_ / "parent").empty(); }));
  pid_t server = 0;
  for (const pid_t pid : Descendants(supervisor_)) {
    server = Slurp("/proc/" + std::to_string(pid) + "/cmdline").starts_with("muster-pmix") ? pid
                                                                                           : server;
  }
  ASSERT_NE(server, 0);
  kill(server, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !Facts<StepEnded>().empty(); }));
  EXPECT_FALSE(Facts<StepEnded>().at(0).ranks.at(0).status.success());
  EXPECT_THAT(Slurp(directory_.Log()),
              HasSubstr("the process that serves PMIx to its ranks is gone"));
  StepOrder next = OrderOf({MUSTER_MPI_RING}, 2, 4);
  next.program.mpi = MpiFlavour::kPmix;
  EXPECT_TRUE(SendStep(directory_, next).ok());
  ASSERT_TRUE(Eventually([&] { return Facts<StepEnded>().size() == 2; }));
  EXPECT_TRUE(Facts<StepEnded>().at(1).ranks.at(0).status.success()) << Slurp(directory_.Log());
  EXPECT_TRUE(SendStep(directory_, OrderOf({"touch", "stop"}, 1, 5)).ok());
  EXPECT_EQ(Wait(), 0);
}

}  // namespace
}  // namespace muster::agent
