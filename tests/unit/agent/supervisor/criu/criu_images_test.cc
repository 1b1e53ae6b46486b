// The directory in which a job's saved processes are kept.
#include "agent/supervisor/criu/criu_images.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CriuImagesTest : public ::testing::Test {
 protected:
  CriuImagesTest() : images_(*CriuImages::Make(top_ / "above/criu-7", geteuid())) {}

  void Commit(const std::string& page = "page") {
    const absl::StatusOr<UniqueFd> next = images_.BeginNext();
    ASSERT_TRUE(next.ok()) << next.status();
    Write(Path(NamesIn(Directory().get()).front() + "/pages-1.img"), page);
    const absl::StatusOr<SavedGeneration> saved = images_.CommitNext(next->get(), 4242);
    ASSERT_TRUE(saved.ok()) << saved.status();
    EXPECT_GE(saved->bytes, page.size());
  }
  UniqueFd Directory() const {
    return UniqueFd(open(images_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  std::string Path(const std::string& name) const { return images_.path() + "/" + name; }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
    chmod(path.c_str(), 0600);
  }
  std::vector<std::string> Order() const {
    std::vector<std::string> names;
    for (const RestorableGeneration& generation : images_.Restorable()) {
      names.push_back(generation.Name());
    }
    return names;
  }

  TempDirectory top_;
  CriuImages images_;
};

TEST_F(CriuImagesTest, TheNewestTwoStayAndTheNewestIsNamed) {
  for (int i = 0; i < 11; ++i) {
    Commit();
  }
  EXPECT_THAT(Order(), ElementsAre("11", "10"));
  EXPECT_THAT(NamesIn(Directory().get()), ElementsAre("10", "11", "latest"));
  EXPECT_EQ(images_.Restorable().front().leader, 4242);
}

TEST_F(CriuImagesTest, WhatStaysBesideTheNextIsTheNewestAlone) {
  EXPECT_THAT(images_.SizesBesideNext(), IsEmpty());
  Commit("one");
  Commit("twenty");
  // The page, and the number of the process.
  EXPECT_THAT(images_.SizesBesideNext(), ElementsAre(6U + 4U));
}

TEST_F(CriuImagesTest, OneThatFailedComesAfterTheWholeOnesAndGoesWithTheNextCommit) {
  Commit();
  Commit();
  images_.SetAside(images_.Restorable().front());
  EXPECT_THAT(Order(), ElementsAre("1", "2.failed"));
  Commit();
  EXPECT_THAT(Order(), ElementsAre("3", "1"));
}

TEST_F(CriuImagesTest, WhatAKilledDumpLeftIsNoGenerationAndGoesWithTheNext) {
  Commit();
  ASSERT_TRUE(images_.BeginNext().ok());
  Write(Path(".2/pages-1.img"), "half");
  EXPECT_THAT(Order(), ElementsAre("1"));
  Commit("new");
  EXPECT_THAT(Order(), ElementsAre("2", "1"));
  EXPECT_FALSE(std::filesystem::exists(Path(".2")));
}

TEST_F(CriuImagesTest, ADumpThatCameToNothingLeavesItsLogAlone) {
  Commit();
  const absl::StatusOr<UniqueFd> next = images_.BeginNext();
  ASSERT_TRUE(next.ok());
  Write(Path(".2/dump.log"), "why");
  images_.DropNext(next->get(), "dump.log");
  EXPECT_THAT(NamesIn(Directory().get()), ElementsAre("1", "failed.log", "latest"));
}

TEST_F(CriuImagesTest, WhatIsNotWholeIsNotRestored) {
  Commit();
  std::filesystem::create_directory(Path("2"));   // without a leader
  std::filesystem::create_directory(Path("03"));  // no name of ours
  std::filesystem::create_directory(Path("3.moved"));
  EXPECT_THAT(Order(), ElementsAre("1"));
  Write(Path("1/leader"), "1");
  EXPECT_THAT(Order(), IsEmpty()) << "nobody restores the first process of a machine";
}

TEST_F(CriuImagesTest, OnlyPlainFilesOfTheUserThatNobodyElseMayWriteAreRestored) {
  Commit();
  const RestorableGeneration generation = images_.Restorable().front();
  EXPECT_TRUE(images_.OpenGeneration(generation).ok());
  ASSERT_EQ(chmod(Path("1/pages-1.img").c_str(), 0620), 0);
  EXPECT_THAT(std::string(images_.OpenGeneration(generation).status().message()),
              HasSubstr("1/pages-1.img: others may write to it"));
  ASSERT_EQ(chmod(Path("1/pages-1.img").c_str(), 0600), 0);
  std::filesystem::create_symlink("/etc/passwd", Path("1/core-1.img"));
  EXPECT_THAT(std::string(images_.OpenGeneration(generation).status().message()),
              HasSubstr("1/core-1.img: it is no plain file of its own"));
  std::filesystem::remove(Path("1/core-1.img"));
  ASSERT_EQ(chmod(Path("1").c_str(), 0722), 0);
  EXPECT_THAT(std::string(images_.OpenGeneration(generation).status().message()),
              HasSubstr("others may write to it"));
}

TEST_F(CriuImagesTest, AnotherUsersDirectoryOrALinkIsRefused) {
  EXPECT_THAT(std::string(CriuImages::Open(images_.path(), geteuid() + 1).status().message()),
              HasSubstr("it is another user's"));
  std::filesystem::create_directory_symlink(images_.path(), top_ / "link");
  EXPECT_FALSE(CriuImages::Open(top_ / "link", geteuid()).ok());
  ASSERT_EQ(chmod(images_.path().c_str(), 0777), 0);
  EXPECT_THAT(std::string(CriuImages::Open(images_.path(), geteuid()).status().message()),
              HasSubstr("others may write to it"));
}

TEST_F(CriuImagesTest, TheScriptIsAFileOfItsOwnWhateverHadItsName) {
  ASSERT_EQ(mkfifo(images_.Script().c_str(), 0600), 0);
  ASSERT_TRUE(images_.WriteScript("#!/bin/sh\n").ok());
  std::filesystem::remove(images_.Script());
  std::filesystem::create_symlink(top_ / "elsewhere", images_.Script());
  ASSERT_TRUE(images_.WriteScript("#!/bin/sh\n").ok());
  EXPECT_FALSE(std::filesystem::exists(top_ / "elsewhere"));
  EXPECT_EQ(std::filesystem::status(images_.Script()).permissions(),
            std::filesystem::perms::owner_all);
}

TEST_F(CriuImagesTest, TheIdsOfItsProcessesAndThreadsAreLookedFor) {
  const UniqueFd directory = Directory();
  Write(Path("core-" + std::to_string(getpid()) + ".img"), "");
  Write(Path("core-0.img"), "");
  Write(Path("core-x.img"), "");
  Write(Path("mm-1.img"), "");
  EXPECT_THAT(CriuImages::TakenIds(directory.get()), ElementsAre(getpid()));
}

TEST_F(CriuImagesTest, AGroupHoldsItsIdWhenItsLeaderIsGone) {
  const pid_t leader = fork();
  if (leader == 0) {
    setpgid(0, 0);
    pause();
    _exit(0);
  }
  setpgid(leader, leader);
  const pid_t member = fork();
  if (member == 0) {
    pause();
    _exit(0);
  }
  ASSERT_EQ(setpgid(member, leader), 0);
  kill(leader, SIGKILL);
  waitpid(leader, nullptr, 0);
  const UniqueFd directory = Directory();
  Write(Path("core-" + std::to_string(leader) + ".img"), "");
  EXPECT_THAT(CriuImages::TakenIds(directory.get()), ElementsAre(leader));
  kill(member, SIGKILL);
  waitpid(member, nullptr, 0);
  EXPECT_THAT(CriuImages::TakenIds(directory.get()), IsEmpty());
}

TEST_F(CriuImagesTest, TheReasonIsTheFirstErrorThatSaysWhy) {
  const UniqueFd directory = Directory();
  Write(Path("dump.log"),
        "(00.001) Warn  (criu/a.c:1): never mind\n"
        "Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self\n"
        "Error (criu/util.c:642): exited, status=1\n"
        " 12: Error (criu/vdso.c:381): vdso: Unexpected rt vDSO area bounds\n"
        "Error (criu/cr-dump.c:2100): Dumping FAILED.\n");
  EXPECT_EQ(ReasonIn(directory.get(), "dump.log"), "vdso: Unexpected rt vDSO area bounds");
  EXPECT_EQ(ReasonIn(directory.get(), "none.log"), "");
  ASSERT_EQ(mkfifo(Path("fifo.log").c_str(), 0600), 0);
  EXPECT_EQ(ReasonIn(directory.get(), "fifo.log"), "");
}

}  // namespace
}  // namespace muster::agent
