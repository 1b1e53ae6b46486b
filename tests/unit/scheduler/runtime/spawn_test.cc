#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int status = 0;
  std::string output;
};

// Runs `request`'s shell script to its end with its standard output in a file.
Outcome RunShell(SpawnRequest request, const std::string& script) {
  const TempDirectory directory;
  const std::string path = directory / "out";
  const UniqueFd out(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  request.program = "/bin/sh";
  request.arguments = {"sh", "-c", script};
  request.fds.push_back({.from = out.get(), .to = STDOUT_FILENO});
  const absl::StatusOr<pid_t> pid = Spawn(request);
  EXPECT_TRUE(pid.ok()) << pid.status();
  Outcome outcome;
  EXPECT_EQ(waitpid(*pid, &outcome.status, 0), *pid);
  outcome.output = ReadFile(path).value();
  return outcome;
}

TEST(Spawn, GivesArgumentsEnvironmentAndExitCode) {
  SpawnRequest request;
  request.environment = {"GREETING=hello there"};
  const Outcome outcome = RunShell(request, "echo $GREETING; env | grep -c HOME; exit 7");
  EXPECT_TRUE(WIFEXITED(outcome.status));
  EXPECT_EQ(WEXITSTATUS(outcome.status), 7);
  EXPECT_EQ(outcome.output, "hello there\n0\n") << "the environment is the request's alone";
}

TEST(Spawn, StartsInTheWorkingDirectory) {
  SpawnRequest request;
  request.working_directory = "/usr";
  EXPECT_EQ(RunShell(request, "pwd").output, "/usr\n");
}

TEST(Spawn, AMissingProgramOrDirectoryIsAnErrorHere) {
  SpawnRequest request;
  request.program = "/no/such/program";
  request.arguments = {"program"};
  const absl::Status no_program = Spawn(request).status();
  EXPECT_TRUE(absl::IsNotFound(no_program));
  EXPECT_THAT(std::string(no_program.message()), HasSubstr("/no/such/program: cannot start"));
  request.program = "/bin/true";
  request.working_directory = "/no/such/directory";
  const absl::Status no_directory = Spawn(request).status();
  EXPECT_THAT(std::string(no_directory.message()), HasSubstr("in /no/such/directory"));
}

TEST(Spawn, OnlyANewSessionLeavesOurs) {
  const std::string session = "cut -d' ' -f6 /proc/$$/stat";
  SpawnRequest request;
  EXPECT_EQ(RunShell(request, session).output, absl::StrCat(getsid(0), "\n"));
  request.new_session = true;
  EXPECT_NE(RunShell(request, session).output, absl::StrCat(getsid(0), "\n"));
}

TEST(Spawn, OnlyTheNamedDescriptorsPass) {
  // One that a careless library left inheritable.
  const UniqueFd leaked(open("/dev/null", O_RDONLY));
  const UniqueFd high(fcntl(leaked.get(), F_DUPFD, 50));
  const UniqueFd wanted(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  SpawnRequest request;
  request.fds = {{.from = wanted.get(), .to = 7}};
  const std::string listing = RunShell(request, R"(i=0
      while [ $i -lt 64 ]; do
        [ -e /proc/$$/fd/$i ] && echo $i
        i=$((i + 1))
      done)")
                                  .output;
  EXPECT_EQ(listing, "0\n1\n2\n7\n");
}

TEST(Spawn, DescriptorsMayBeSwapped) {
  const UniqueFd zero(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnRequest request;
  request.fds = {{.from = zero.get(), .to = null.get()}, {.from = null.get(), .to = zero.get()}};
  const std::string script =
      absl::StrCat("readlink /proc/$$/fd/", null.get(), "; readlink /proc/$$/fd/", zero.get());
  EXPECT_EQ(RunShell(request, script).output, "/dev/zero\n/dev/null\n");
}

TEST(Spawn, ADescriptorMayKeepItsNumber) {
  const UniqueFd zero(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  SpawnRequest request;
  request.fds = {{.from = zero.get(), .to = zero.get()}};
  EXPECT_EQ(RunShell(request, absl::StrCat("readlink /proc/$$/fd/", zero.get())).output,
            "/dev/zero\n");
}

TEST(Spawn, AClosedDescriptorIsAnError) {
  SpawnRequest request;
  request.program = "/bin/true";
  request.arguments = {"true"};
  request.fds = {{.from = 9999, .to = 3}};
  EXPECT_FALSE(Spawn(request).ok());
}

TEST(Spawn, TheChildsSignalMaskAndHandlingAreFresh) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const auto pipe_handler = std::signal(SIGPIPE, SIG_IGN);
  // Signals 1 to 31; above them the C library keeps two for itself.
  const std::string status =
      RunShell({}, "sed -n 's/^Sig\\(Blk\\|Ign\\):.*\\(.......\\)/\\1 \\2/p' /proc/self/status")
          .output;
  std::signal(SIGPIPE, pipe_handler);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(status, "Blk 0000000\nIgn 0000000\n");
}

}  // namespace
}  // namespace muster
