#include "cli/request/record/git_state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

// A repository that the real git makes.
class GitStateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/bin/git", X_OK) != 0) {
      GTEST_SKIP() << "git is not installed";
    }
    Git("init -q -b main .");
    Write("file", "one\n");
    Git("add file");
  }
  void Git(const std::string& words) {
    ASSERT_EQ(std::system(("cd '" + directory_.path() +
                           "' && HOME=/nonexistent git -c user.name=a -c user.email=a@b " + words +
                           " >/dev/null 2>&1")
                              .c_str()),
              0)
        << words;
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
  }
  [[nodiscard]] std::optional<GitState> Look(const std::string& below = "") const {
    return GitStateOf(directory_.path() + below, {"PATH=/usr/bin:/bin", "HOME=/nonexistent"});
  }
  // Slow machines give git longer than a tenth of a second.
  [[nodiscard]] Changed ChangedInTheEnd() const {
    Changed changed = Changed::kUnknown;
    for (int i = 0; i < 100 && changed == Changed::kUnknown; ++i) {
      changed = Look()->changed;
    }
    return changed;
  }

  const TempDirectory directory_;
};

TEST_F(GitStateTest, ItIsTheCommitOfTheBranchAndWhetherATrackedFileDiffers) {
  EXPECT_EQ(Look(), std::nullopt) << "nothing is committed";
  Git("commit -q -m one");
  const std::optional<GitState> first = Look();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->commit.size(), 40U);
  EXPECT_EQ(ChangedInTheEnd(), Changed::kNo);
  Write("other", "not tracked\n");
  EXPECT_EQ(ChangedInTheEnd(), Changed::kNo);
  Write("file", "two, and longer\n");
  EXPECT_EQ(ChangedInTheEnd(), Changed::kYes);
  Git("commit -q -a -m two");
  EXPECT_NE(Look()->commit, first->commit);
}

TEST_F(GitStateTest, ItIsFoundFromBelowFromAPackedNameAndWithoutABranch) {
  Git("commit -q -m one");
  const std::string commit = Look()->commit;
  ASSERT_EQ(mkdir((directory_ / "below").c_str(), 0700), 0);
  EXPECT_EQ(Look("/below")->commit, commit);
  Git("pack-refs --all");
  EXPECT_EQ(Look()->commit, commit);
  Git("checkout -q --detach");
  EXPECT_EQ(Look()->commit, commit);
  Git("worktree add -q tree -b other");
  EXPECT_EQ(Look("/tree")->commit, commit);
}

TEST(GitState, ADirectoryWithoutARepositoryHasNone) {
  const TempDirectory directory;
  EXPECT_EQ(GitStateOf(directory.path(), {}), std::nullopt);
  std::ofstream(directory / ".git") << "gitdir: /nowhere\n";
  EXPECT_EQ(GitStateOf(directory.path(), {}), std::nullopt);
}

}  // namespace
}  // namespace muster::cli
