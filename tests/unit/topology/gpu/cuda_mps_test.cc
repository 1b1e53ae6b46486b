#include "topology/gpu/cuda_mps.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::topology {
namespace {

// As the control daemon has it: a listening socket for sequences of packets.
UniqueFd Listen(const std::string& path) {
  UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  EXPECT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(listener.get(), 4), 0);
  return listener;
}

TEST(CudaMps, ADirectoryThatIsNotThereOrHasNoControlIsNot) {
  const TempDirectory directory;
  EXPECT_FALSE(MpsRunsIn(directory / "absent"));
  EXPECT_FALSE(MpsRunsIn(directory / ""));
}

TEST(CudaMps, ADaemonThatListensIsFoundAndLearnsNothingOfIt) {
  const TempDirectory directory;
  const UniqueFd daemon = Listen(directory / "control");
  EXPECT_TRUE(MpsRunsIn(directory / ""));
  EXPECT_EQ(accept(daemon.get(), nullptr, nullptr), -1) << "nobody has connected";
}

TEST(CudaMps, ASocketThatADaemonLeftBehindIsNot) {
  const TempDirectory directory;
  Listen(directory / "control").reset();
  std::ofstream(directory / "nvidia-cuda-mps-control.pid") << getpid();
  EXPECT_FALSE(MpsRunsIn(directory / ""));
}

TEST(CudaMps, AnOldDaemonsPipeCountsWhileTheProcessOfThePidFileLives) {
  const TempDirectory directory;
  ASSERT_EQ(mkfifo((directory / "control").c_str(), 0600), 0);
  const std::string pid_file = directory / "nvidia-cuda-mps-control.pid";
  EXPECT_FALSE(MpsRunsIn(directory / "")) << "no pid file";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t daemon = fork();
  if (daemon == 0) {
    prctl(PR_SET_NAME, "nvidia-cuda-mps-control");
    const bool told = write(ready[1], "x", 1) == 1;
    pause();
    _exit(told ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  std::ofstream(pid_file) << daemon;
  EXPECT_TRUE(MpsRunsIn(directory / ""));
  std::ofstream(pid_file) << getpid();
  EXPECT_FALSE(MpsRunsIn(directory / "")) << "another program has that number now";
  std::ofstream(pid_file) << daemon;
  kill(daemon, SIGKILL);
  waitpid(daemon, nullptr, 0);
  EXPECT_FALSE(MpsRunsIn(directory / "")) << "nobody has that number";
  close(ready[0]);
  close(ready[1]);
}

// Neither root's agent nor its jobs have to do with a daemon that another user may have started.

TEST(CudaMps, WhatOthersMayWriteToIsNotBelieved) {
  const TempDirectory directory;
  ASSERT_EQ(mkdir((directory / "mps").c_str(), 0755), 0);
  const UniqueFd daemon = Listen(directory / "mps/control");
  EXPECT_TRUE(MpsRunsIn(directory / "mps"));
  for (const mode_t mode : {0777, 01777, 0775}) {
    ASSERT_EQ(chmod((directory / "mps").c_str(), mode), 0);
    EXPECT_TRUE(absl::IsPermissionDenied(CheckMpsDirectory(directory / "mps"))) << mode;
    EXPECT_FALSE(MpsRunsIn(directory / "mps")) << mode;
  }
  ASSERT_EQ(chmod((directory / "mps").c_str(), 0755), 0);
  ASSERT_EQ(chmod(directory.path().c_str(), 0777), 0);
  EXPECT_FALSE(MpsRunsIn(directory / "mps")) << "the directory above";
  ASSERT_EQ(chmod(directory.path().c_str(), 01777), 0);
  EXPECT_TRUE(MpsRunsIn(directory / "mps")) << "a sticky one above, as /tmp";
}

TEST(CudaMps, AnotherUsersDirectoryOrControlIsNotBelieved) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can make what is another user's";
  }
  const TempDirectory directory;
  const UniqueFd daemon = Listen(directory / "control");
  EXPECT_TRUE(MpsRunsIn(directory / ""));
  ASSERT_EQ(chown((directory / "control").c_str(), 61002, 61002), 0);
  EXPECT_FALSE(MpsRunsIn(directory / "")) << CheckMpsDirectory(directory / "");
  ASSERT_EQ(chown((directory / "control").c_str(), 0, 0), 0);
  ASSERT_EQ(chown(directory.path().c_str(), 61002, 61002), 0);
  EXPECT_FALSE(MpsRunsIn(directory / "")) << CheckMpsDirectory(directory / "");
}

TEST(CudaMps, APipeInPlaceOfThePidFileHoldsNothingUp) {
  const TempDirectory directory;
  ASSERT_EQ(mkfifo((directory / "control").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((directory / "nvidia-cuda-mps-control.pid").c_str(), 0600), 0);
  alarm(20);
  EXPECT_FALSE(MpsRunsIn(directory / ""));
  alarm(0);
}

TEST(CudaMps, TheDirectoryIsTheEnvironmentsElseCudasOwn) {
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
  EXPECT_EQ(MpsPipeDirectory(), "/tmp/nvidia-mps");
  setenv("CUDA_MPS_PIPE_DIRECTORY", "/run/mps", 1);
  EXPECT_EQ(MpsPipeDirectory(), "/run/mps");
  setenv("CUDA_MPS_PIPE_DIRECTORY", "", 1);
  EXPECT_EQ(MpsPipeDirectory(), "/tmp/nvidia-mps");
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
}

TEST(CudaMps, APathTooLongForASocketIsNot) {
  const TempDirectory directory;
  EXPECT_FALSE(MpsRunsIn(directory / std::string(200, 'x')));
}

}  // namespace
}  // namespace muster::topology
