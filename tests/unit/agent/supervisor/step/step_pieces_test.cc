// The pieces of a step alone: starting a rank, what it reads and writes, reading it back.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <optional>

#include "agent/supervisor/step/binding_reader.h"
#include "agent/supervisor/step/rank_launcher.h"
#include "agent/supervisor/step/rank_streams.h"
#include "agent/supervisor/step/step_plan.h"
#include "tests/unit/agent/supervisor/attempt_parts.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

class StepPiecesTest : public AttemptParts {
 protected:
  StepPiecesTest() {
    order_.launch.program.environment = {"PATH=/usr/bin:/bin"};
    plan_.step = StepId(1);
    plan_.program = order_.launch.program;
    plan_.program.argv = {"sh", "-c", "echo out; echo err >&2"};
    plan_.placement = Placement(1);
    reaped_ = [this](pid_t, int status, const rusage&) { status_ = status; };
  }

  ClosingSockets closing_{*loop_};
  const StepHost host_{.loop = *loop_,
                       .clock = clock_,
                       .log = log_,
                       .order = order_,
                       .reporter = reporter_,
                       .closing = closing_};
  StepPlan plan_;
  std::optional<int> status_;  // of the child that was reaped
};

TEST_F(StepPiecesTest, AFailedStartSaysWhatToDo) {
  const StepRanks ranks(plan_);
  const RankLauncher launcher(
      host_, plan_, ranks, [](StepRank*, const LaunchOutcome&) {}, [] {});
  EXPECT_EQ(launcher.FailureText({.binding = {}, .failed_at = LaunchStage::kExec, .error = ENOENT}),
            "cannot run sh: not found along PATH");
  EXPECT_THAT(
      launcher.FailureText({.binding = {}, .failed_at = LaunchStage::kWorkDir, .error = EACCES}),
      HasSubstr("cannot enter the working directory " + work_.path()));
  plan_.program.argv = {"./prog"};
  EXPECT_THAT(
      launcher.FailureText({.binding = {}, .failed_at = LaunchStage::kExec, .error = ENOEXEC}),
      HasSubstr("it is built for another kind of machine"));
  plan_.script = "/script";
  plan_.program.script = "echo\n";
  EXPECT_THAT(
      launcher.FailureText({.binding = {}, .failed_at = LaunchStage::kExec, .error = ENOEXEC}),
      HasSubstr("begin it with a line like #!/bin/sh"));
}

TEST_F(StepPiecesTest, WithoutACommandNothingIsStarted) {
  plan_.program.argv.clear();
  const StepRanks ranks(plan_);
  RankLauncher launcher(
      host_, plan_, ranks, [](StepRank*, const LaunchOutcome&) {}, [] {});
  EXPECT_TRUE(absl::IsInvalidArgument(launcher.Start(ranks.all()[0].get(), nullptr, false)));
  EXPECT_EQ(ranks.all()[0]->pid, 0);
  EXPECT_EQ(launcher.OutOfMemory(), "");
}

TEST_F(StepPiecesTest, ARankThatWasStartedIsHeardAndReadBack) {
  const StepRanks ranks(plan_);
  StepRank* const rank = ranks.all()[0].get();
  int settled = 0;
  int heard = 0;
  plan_.program.argv = {"sleep", "1000"};
  RankLauncher launcher(
      host_, plan_, ranks,
      [&](StepRank* which, const LaunchOutcome& outcome) {
        EXPECT_EQ(which, rank);
        EXPECT_EQ(outcome.error, 0);
        ++settled;
      },
      [&] { ++heard; });
  BindingReader reader(host_, plan_, [] {});
  reader.SetNote("a note");
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  rank->input_fd = rank->output_fd = rank->error_fd = null.get();
  launcher.MakeGroup();
  launcher.PrepareRanks();
  ASSERT_TRUE(launcher.Start(rank, nullptr, false).ok());
  EXPECT_GT(rank->pid, 0);
  // It may be heard of twice: that it is bound, and that its program has begun.
  ASSERT_TRUE(TurnUntil([&] { return settled > 0; }));
  EXPECT_EQ(settled, 1);
  EXPECT_GE(heard, 1);
  reader.Read(rank);
  ASSERT_TRUE(TurnUntil([&] { return rank->settled; }));
  ASSERT_TRUE(rank->binding.has_value());
  EXPECT_EQ(rank->binding->pid, static_cast<std::uint32_t>(rank->pid));
  EXPECT_THAT(rank->binding->text, HasSubstr("a note"));
  reader.ReadNow(rank);
  reader.Report(ranks);
  ASSERT_EQ(Facts<BindingRead>().size(), 1U);
  EXPECT_EQ(Facts<BindingRead>()[0].ranks.size(), 1U) << "it is read back once";
  ranks.Signal(SIGKILL);
  ASSERT_TRUE(TurnUntil([&] { return status_.has_value(); }));
}

class RankStreamsTest : public StepPiecesTest {
 protected:
  // Opens them, and returns what came of it.
  absl::Status Open(const absl::Status& refusal = absl::OkStatus()) {
    streams_.Open(refusal);
    EXPECT_TRUE(TurnUntil([this] { return opened_.has_value(); }));
    return opened_.value_or(absl::UnknownError("not opened"));
  }

  const StepRanks ranks_{(plan_.placement = Placement(2), plan_)};
  std::optional<absl::Status> opened_;
  RankStreams streams_{host_,
                       plan_,
                       ranks_,
                       {.connect = [](UniqueFd) -> absl::StatusOr<StepConnection*> {
                          return absl::UnimplementedError("no client");
                        },
                        .on_opened = [this](absl::Status status) { opened_ = std::move(status); },
                        .on_output_closed = [] {},
                        .shares_input = [] { return false; }}};
};

TEST_F(RankStreamsTest, RanksThatNameOneFileShareIt) {
  ASSERT_TRUE(Open().ok());
  for (const std::unique_ptr<StepRank>& rank : ranks_.all()) {
    ASSERT_TRUE(streams_.OpenFor(rank.get()).ok());
    EXPECT_EQ(rank->output_fd, rank->error_fd);
  }
  EXPECT_EQ(ranks_.all()[0]->output_fd, ranks_.all()[1]->output_fd);
  EXPECT_TRUE(streams_.OutputTaken()) << "nothing of a file is waited for";
  EXPECT_FALSE(streams_.InputFull());
  EXPECT_EQ(streams_.FullOutput(*ranks_.all()[0]), "");
  streams_.Forked();
}

TEST_F(RankStreamsTest, EachRankMayHaveAFileOfItsOwn) {
  plan_.program.stdout_path = "out.%t";
  plan_.program.stderr_path = "err.%t";
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(streams_.OpenFor(ranks_.all()[0].get()).ok());
  ASSERT_TRUE(streams_.OpenFor(ranks_.all()[1].get()).ok());
  EXPECT_NE(ranks_.all()[0]->output_fd, ranks_.all()[1]->output_fd);
  EXPECT_NE(ranks_.all()[0]->output_fd, ranks_.all()[0]->error_fd);
  EXPECT_TRUE(Made("out.0") && Made("out.1") && Made("err.0") && Made("err.1"));
}

TEST_F(RankStreamsTest, AStepThatIsRefusedOpensNothing) {
  const absl::Status opened = Open(absl::FailedPreconditionError("no PMIx"));
  EXPECT_EQ(opened.message(), "no PMIx");
}

TEST_F(RankStreamsTest, AFileThatCannotBeOpenedIsNamed) {
  plan_.program.stdout_path = "nothing/there";
  const absl::Status opened = Open();
  EXPECT_TRUE(absl::IsFailedPrecondition(opened));
  EXPECT_THAT(std::string(opened.message()), HasSubstr("nothing/there"));
}

}  // namespace
}  // namespace muster::agent
