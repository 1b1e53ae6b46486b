#include "agent/supervisor/user_space/remove_tree.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

namespace fs = std::filesystem;

constexpr Duration kLong{60000};
constexpr uid_t kUser = 61001;
constexpr uid_t kOther = 61002;

// A chain of `depth` directories below `path`, each with a file in it.
void MakeChain(const std::string& path, int depth, uid_t owner) {
  UniqueFd at(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < depth; ++i) {
    ASSERT_EQ(mkdirat(at.get(), "d", 0700), 0);
    const UniqueFd file(openat(at.get(), "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (owner != 0) {
      ASSERT_EQ(fchownat(at.get(), "d", owner, owner, 0), 0);
      ASSERT_EQ(fchown(file.get(), owner, owner), 0);
    }
    at.reset(openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.valid());
  }
}

TEST(RemoveTreeTest, ADirectoryGoesWithItsContent) {
  const TempDirectory temp;
  fs::create_directories(temp / "a/b/c");
  ASSERT_TRUE(WriteFileAtomically(temp / "a/b/file", "text").ok());
  EXPECT_TRUE(RemoveTree(temp / "a", kLong).ok());
  EXPECT_FALSE(fs::exists(temp / "a"));
  EXPECT_TRUE(RemoveTree(temp / "a", kLong).ok()) << "absent is no error";
}

TEST(RemoveTreeTest, WhatALinkPointsToStays) {
  const TempDirectory temp;
  fs::create_directories(temp / "outside");
  ASSERT_TRUE(WriteFileAtomically(temp / "outside/file", "text").ok());
  fs::create_directories(temp / "a/deep/er");
  for (const char* place : {"a/link", "a/deep/link", "a/deep/er/link"}) {
    fs::create_directory_symlink(temp / "outside", temp / place);
  }
  fs::create_hard_link(temp / "outside/file", temp / "a/hard");
  EXPECT_TRUE(RemoveTree(temp / "a", kLong).ok());
  EXPECT_FALSE(fs::exists(temp / "a"));
  EXPECT_EQ(ReadFile(temp / "outside/file").value(), "text");
  fs::create_directory_symlink(temp / "outside", temp / "link");
  EXPECT_TRUE(RemoveTree(temp / "link", kLong).ok()) << "the link itself";
  EXPECT_TRUE(fs::exists(temp / "outside/file"));
}

TEST(RemoveTreeTest, FiveThousandLevelsGoWithAHandfulOfDescriptors) {
  const TempDirectory temp;
  fs::create_directories(temp / "a");
  MakeChain(temp / "a", 5000, 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // none of this program's descriptors count there
    const rlimit few = {STDERR_FILENO + 1 + 5, STDERR_FILENO + 1 + 5};
    const bool removed = close_range(STDERR_FILENO + 1, ~0U, 0) == 0 &&
                         setrlimit(RLIMIT_NOFILE, &few) == 0 && RemoveTree(temp / "a", kLong).ok();
    _exit(removed ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(fs::exists(temp / "a"));
}

TEST(RemoveTreeTest, AWideAndBushyTreeGoesWhole) {
  const TempDirectory temp;
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < 10; ++j) {
      fs::create_directories(temp / absl::StrCat("a/", i, "/", j, "/.1/.2"));
      ASSERT_TRUE(WriteFileAtomically(temp / absl::StrCat("a/", i, "/", j, "/.1/x"), "").ok());
    }
  }
  for (int i = 0; i < 5000; ++i) {
    const UniqueFd file(open((temp / absl::StrCat("a/f", i)).c_str(), O_CREAT | O_WRONLY, 0600));
  }
  fs::create_directories(temp / "a/.1/in");  // names that moved directories would like to have
  ASSERT_TRUE(WriteFileAtomically(temp / "a/.2", "").ok());
  const absl::Status removed = RemoveTree(temp / "a", kLong);
  EXPECT_TRUE(removed.ok()) << removed;
  EXPECT_FALSE(fs::exists(temp / "a"));
}

TEST(RemoveTreeTest, ATreeThatTakesTooLongIsLeftInTime) {
  const TempDirectory temp;
  fs::create_directories(temp / "a/b");
  const absl::Status removed = RemoveTree(temp / "a", Duration(0));
  EXPECT_TRUE(absl::IsDeadlineExceeded(removed)) << removed;
  EXPECT_THAT(std::string(removed.message()), ::testing::HasSubstr("takes too long"));
}

class UsersTreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) {
      GTEST_SKIP() << "SKIPPED: only root can make a tree that is another user's";
    }
    fs::create_directories(temp_ / "a/his");
    Own("a/his", 0700);
  }
  void Own(const std::string& name, mode_t mode, uid_t owner = kUser) {
    ASSERT_EQ(chown((temp_ / name).c_str(), owner, owner), 0);
    ASSERT_EQ(chmod((temp_ / name).c_str(), mode), 0);
  }
  TempDirectory temp_;
};

TEST_F(UsersTreeTest, FiveThousandLevelsOfAUsersGo) {
  MakeChain(temp_ / "a/his", 5000, kUser);
  const absl::Status removed = RemoveTree(temp_ / "a", kLong);
  EXPECT_TRUE(removed.ok()) << removed;
  EXPECT_FALSE(fs::exists(temp_ / "a"));
}

TEST_F(UsersTreeTest, DirectoriesThatHeHasClosedGo) {
  fs::create_directories(temp_ / "a/his/1/2/3/4");
  ASSERT_TRUE(WriteFileAtomically(temp_ / "a/his/1/2/3/4/file", "").ok());
  for (const char* name :
       {"a/his/1/2/3/4/file", "a/his/1/2/3/4", "a/his/1/2/3", "a/his/1/2", "a/his/1", "a/his"}) {
    Own(name, 0);
  }
  const absl::Status removed = RemoveTree(temp_ / "a", kLong);
  EXPECT_TRUE(removed.ok()) << removed;
  EXPECT_FALSE(fs::exists(temp_ / "a"));
}

TEST_F(UsersTreeTest, WhatHeMovedInOfOthersIsKeptWhole) {
  fs::create_directories(temp_ / "trash");
  fs::rename(temp_ / "a", temp_ / "trash/1");
  fs::create_directories(temp_ / "trash/1/his/d/e/others/private");
  fs::create_directories(temp_ / "trash/1/his/roots/inner");
  ASSERT_TRUE(WriteFileAtomically(temp_ / "trash/1/his/d/e/others/private/file", "thesis").ok());
  ASSERT_TRUE(WriteFileAtomically(temp_ / "trash/1/his/roots/inner/file", "root's").ok());
  Own("trash/1/his/d/e/others/private/file", 0600, kOther);
  Own("trash/1/his/d/e/others/private", 0700, kOther);
  Own("trash/1/his/d/e/others", 0777, kOther);
  Own("trash/1/his/d/e", 0700);
  Own("trash/1/his/d", 0700);
  std::vector<std::string> kept;
  const absl::Status swept = SweepTrash(temp_ / "trash", kLong, &kept);
  EXPECT_TRUE(swept.ok()) << swept;
  EXPECT_TRUE(fs::is_empty(temp_ / "trash"));
  const std::string place = QuarantineOf(temp_ / "trash");
  EXPECT_EQ(place, temp_ / "quarantine");
  EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all);
  std::set<std::string> texts;
  for (const auto& entry : fs::recursive_directory_iterator(place)) {
    if (entry.is_regular_file()) {
      texts.insert(ReadFile(entry.path()).value());
    }
  }
  EXPECT_THAT(texts, ::testing::ElementsAre("root's", "thesis"));
  EXPECT_THAT(kept, ::testing::UnorderedElementsAre(
                        ::testing::AllOf(::testing::HasSubstr("/trash/1/his/"),
                                         ::testing::HasSubstr(", of uid 61002, was in another")),
                        ::testing::AllOf(::testing::HasSubstr("/trash/1/his/roots, of uid 0, was"),
                                         ::testing::HasSubstr(place + "/"))));
}

TEST_F(UsersTreeTest, WithoutAQuarantineWhatIsAnothersStays) {
  fs::create_directories(temp_ / "a/his/others/deep");
  Own("a/his/others/deep", 0700, kOther);
  Own("a/his/others", 0755, kOther);
  const absl::Status removed = RemoveTree(temp_ / "a", kLong);
  EXPECT_THAT(std::string(removed.message()),
              ::testing::HasSubstr("another user's files are in it"));
  EXPECT_TRUE(fs::exists(temp_ / "a/his/others/deep"));
}

TEST_F(UsersTreeTest, ATopThatIsAUsersIsEmptiedAsHim) {
  fs::create_directories(temp_ / "a/his/roots/inner");
  fs::create_directories(temp_ / "a/his/own/inner");
  Own("a/his/own", 0700);
  Own("a/his/own/inner", 0700);
  EXPECT_FALSE(RemoveTree(temp_ / "a/his", kLong).ok());
  EXPECT_TRUE(fs::exists(temp_ / "a/his/roots/inner"));
  EXPECT_FALSE(fs::exists(temp_ / "a/his/own"));
}

// Root could, and the user may not: so it stays where his child does it. He is the one who set up
// this link farm, and gets no more than his own rights for it.
TEST_F(UsersTreeTest, NothingOutsideGoesWhereverItPoints) {
  fs::create_directories(temp_ / "roots/inner");
  ASSERT_TRUE(WriteFileAtomically(temp_ / "roots/inner/file", "text").ok());
  fs::create_directory_symlink(temp_ / "roots", temp_ / "a/his/link");
  fs::create_directories(temp_ / "a/his/d");
  Own("a/his/d", 0700);
  fs::create_directory_symlink(temp_ / "roots/inner", temp_ / "a/his/d/link");
  EXPECT_TRUE(RemoveTree(temp_ / "a", kLong).ok());
  EXPECT_EQ(ReadFile(temp_ / "roots/inner/file").value(), "text");
}

TEST_F(UsersTreeTest, TheTrashIsSweptAsFarAsItGoes) {
  fs::create_directories(temp_ / "trash/1/in");
  fs::create_directories(temp_ / "trash/2");
  fs::create_directories(temp_ / "trash/10/in");
  EXPECT_TRUE(SweepTrash(temp_ / "trash", kLong).ok());
  EXPECT_TRUE(fs::is_empty(temp_ / "trash"));
  EXPECT_FALSE(SweepTrash(temp_ / "nothing", kLong).ok());
}

}  // namespace
}  // namespace muster::agent
