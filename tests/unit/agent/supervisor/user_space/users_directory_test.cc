#include "agent/supervisor/user_space/users_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

TEST(UsersDirectory, WithoutAUserTheDirectoryAboveIsMadeAlone) {
  const TempDirectory directory;
  const std::string cache = directory / "a/images";
  EXPECT_TRUE(MakeUsersDirectory(cache, nullptr).ok());
  EXPECT_TRUE(std::filesystem::is_empty(cache));
}

TEST(UsersDirectory, ItIsTheUsersAloneAndWhatOthersCanChangeIsRefused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root gives a directory away";
  }
  const TempDirectory directory;
  const std::string cache = directory / "images";
  JobUser user;
  user.uid = 12345;
  user.gid = 54321;
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(MakeUsersDirectory(cache, &user).ok());
    struct stat made = {};
    ASSERT_EQ(stat(absl::StrCat(cache, "/12345").c_str(), &made), 0);
    EXPECT_EQ(made.st_uid, 12345U);
    EXPECT_EQ(made.st_gid, 54321U);
    EXPECT_EQ(made.st_mode & 0777U, 0700U);
  }
  ASSERT_EQ(chmod(cache.c_str(), 0777), 0);
  EXPECT_THAT(std::string(MakeUsersDirectory(cache, &user).message()),
              HasSubstr("is no directory of root's alone"));
}

}  // namespace
}  // namespace muster::agent
