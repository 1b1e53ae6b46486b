// A launcher in a container asks for a remote shell: with the real program that it has there, and a
// script in the place of muster-rsh.
#include "agent/supervisor/container/remote_shells.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "agent/supervisor/mpirun/inner_rank_wire.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/agent/supervisor/attempt_steps_fixture.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

class RemoteShellsTest : public AttemptStepsFixture {
 protected:
  // Listens; `script` is in the place of muster-rsh.
  void Listen(const std::string& script) {
    Batch("true");
    order_.launch.allocation = Placement(1);
    order_.hostfile = directory_.Hostfile();
    order_.remote_shell = directory_.path() + "/rsh";
    std::ofstream(order_.remote_shell) << "#!/bin/sh\n" << script << "\n";
    chmod(order_.remote_shell.c_str(), 0755);
    absl::StatusOr<std::unique_ptr<RemoteShells>> opened = RemoteShells::Open(
        {.loop = *loop_, .log = log_, .order = order_, .container_of = [this](pid_t) {
           return container_;
         }});
    ASSERT_TRUE(opened.ok()) << opened.status();
    shells_ = *std::move(opened);
    reaped_ = [this](pid_t pid, int status, const rusage& /*usage*/) {
      if (pid == asker_) {
        asker_status_ = status;
      }
      shells_->Reaped(pid, status);
    };
  }
  // Begins one who asks, whose output is a file.
  void Ask(const std::vector<std::string>& words) {
    const std::string program = directory_.path() + "/.muster-rsh";
    ASSERT_EQ(symlink(MUSTER_RANK, program.c_str()), 0);
    const UniqueFd output(open(Said().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    SpawnRequest request;
    request.program = program;
    request.arguments = {program};
    request.arguments.insert(request.arguments.end(), words.begin(), words.end());
    request.environment = {"MUSTER_RANK_SOCKET=" + RankSocket(order_.hostfile), "MUSTER_KEYS=/keys",
                           "MUSTER_LAUNCHER_PID=1", "LD_PRELOAD="};
    request.fds = {{output.get(), STDOUT_FILENO}, {output.get(), STDERR_FILENO}};
    const absl::StatusOr<pid_t> pid = Spawn(request);
    ASSERT_TRUE(pid.ok()) << pid.status();
    asker_ = *pid;
  }
  std::string Said() const { return directory_.path() + "/said"; }

  ContainerSpec container_;
  std::unique_ptr<RemoteShells> shells_;
  pid_t asker_ = 0;
  std::optional<int> asker_status_;
};

TEST_F(RemoteShellsTest, ItHasTheAskersStreamsAndTheAskerItsExitStatus) {
  Listen(
      "echo \"$1: $2 $# $MUSTER_LAUNCHER_OPTIONS.\"; echo \"by $MUSTER_LAUNCHER_PID "
      "$MUSTER_KEYS ${LD_PRELOAD-none}\" >&2; exit 7");
  Ask({"node2", "orted -a  'b'"});
  ASSERT_TRUE(TurnUntil([this] { return asker_status_.has_value(); }));
  EXPECT_EQ(WEXITSTATUS(*asker_status_), 7);
  EXPECT_EQ(*ReadFile(Said()),
            absl::StrCat("node2: orted -a  'b' 2 .\nby ", getpid(), " /keys none\n"));
}

TEST_F(RemoteShellsTest, WhatRunsThereIsInTheContainerOfTheAsker) {
  container_ = {.image = "/i mage.sqsh", .mounts = {{"/a", "/b", true}, {"/c", "/c", false}}};
  container_.writable = true;
  Listen("echo \"$MUSTER_LAUNCHER_OPTIONS\"");
  Ask({"node2", "true"});
  ASSERT_TRUE(TurnUntil([this] { return asker_status_.has_value(); }));
  EXPECT_EQ(*ReadFile(Said()),
            "--container-image=/i mage.sqsh\n--container-mounts=/a:/b:ro,/c:/c\n"
            "--container-writable\n");
}

TEST_F(RemoteShellsTest, TheAskersEndIsItsEnd) {
  Listen("echo begun; exec sleep 1000");
  Ask({"node2", "true"});
  ASSERT_TRUE(TurnUntil([this] { return ReadFile(Said()).value_or("") == "begun\n"; }));
  kill(asker_, SIGKILL);
  ASSERT_TRUE(TurnUntil([this] { return asker_status_.has_value(); }));
  EXPECT_TRUE(TurnUntil([] { return waitpid(-1, nullptr, WNOHANG) < 0; })) << "the sleep goes on";
}

TEST_F(RemoteShellsTest, OneThatTalksNonsenseIsNotListenedTo) {
  Listen("echo begun");
  const absl::StatusOr<UniqueFd> asker =
      ConnectUnix(ShellSocket(RankSocket(order_.hostfile)), SOCK_SEQPACKET);
  ASSERT_TRUE(asker.ok());
  send(asker->get(), "word=node2", 11, MSG_NOSIGNAL);  // without its streams
  EXPECT_TRUE(TurnUntil([&] {
    char byte = 0;
    return recv(asker->get(), &byte, 1, MSG_DONTWAIT) == 0;
  })) << "it is not closed";
}

TEST_F(RemoteShellsTest, WithoutASupervisorItSaysSo) {
  Listen("echo begun");
  shells_.reset();
  Ask({"node2", "true"});
  int status = 0;
  ASSERT_EQ(waitpid(asker_, &status, 0), asker_);
  EXPECT_EQ(WEXITSTATUS(status), 126);
  EXPECT_THAT(*ReadFile(Said()), HasSubstr("muster-rsh: cannot run a command on another node"));
}

}  // namespace
}  // namespace muster::agent
