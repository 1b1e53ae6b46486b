#include "cli/up/up_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

TEST(UpService, EachStateDirectoryHasAUnitOfItsOwn) {
  const Environment environment(std::vector<std::string>{"HOME=/home/ann"});
  EXPECT_EQ(UnitName("/home/ann/.local/state/muster", environment), "muster.service");
  EXPECT_EQ(UnitName("/data/box 2", environment), "muster-data-box-2.service");
}

TEST(UpService, TheUnitHasTheWordsAsTheyAre) {
  const std::string text =
      UnitText({"/usr/bin/muster", "up", "--gres=a b:1", "50%", "$x\"y"}, "/w");
  EXPECT_THAT(text, HasSubstr("\nExecStart=\"/usr/bin/muster\" \"up\" \"--gres=a b:1\" \"50%%\" "
                              "\"$$x\\\"y\"\n"));
  EXPECT_THAT(text, HasSubstr("\nWorkingDirectory=/w\n"));
  EXPECT_THAT(text, HasSubstr("\nDelegate=yes\n"));
  EXPECT_THAT(text, HasSubstr("\nKillMode=process\n"));
}

TEST(UpService, WithoutASystemdOfTheUserThereIsNoManager) {
  TempDirectory directory;
  const Environment environment({"XDG_RUNTIME_DIR=" + (directory / "run"), "HOME=/home/ann"});
  EXPECT_TRUE(absl::IsNotFound(UserManager::Find(environment).status()));
  std::filesystem::create_directories(directory / "run/systemd/private");
  EXPECT_EQ(UserManager::Find(environment)->units(), "/home/ann/.config/systemd/user");
}

TEST(UpService, AStartThatFailsGivesTheLastLineOfItsLog) {
  TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "log", "an older line\n").ok());
  const absl::Status status =
      StartInBackground({"/bin/sh", "-c", "echo first; echo why >&2; exit 3"}, Environment(),
                        directory / "log", [] { return false; });
  EXPECT_EQ(std::string(status.message()), "why");
}

TEST(UpService, TheHolderOfAStateDirectoryIsEndedAndAwaited) {
  TempDirectory directory;
  EXPECT_TRUE(absl::IsNotFound(StopHolder(directory / "nowhere")));
  const pid_t child = fork();
  if (child == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);  // a test before this one may have blocked some
    const absl::StatusOr<LockFile> held = LockFile::Take(directory / "up.lock");
    std::ofstream(directory / "taken") << held.ok();
    pause();
    _exit(0);
  }
  while (!std::filesystem::exists(directory / "taken")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(StopHolder(directory.path()).ok());
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM);
  EXPECT_TRUE(absl::IsNotFound(StopHolder(directory.path())));
}

}  // namespace
}  // namespace muster::cli
