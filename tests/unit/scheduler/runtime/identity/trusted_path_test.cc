#include "scheduler/runtime/identity/trusted_path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

class TrustedPathTest : public ::testing::Test {
 protected:
  TrustedPathTest() {
    std::filesystem::create_directories(temp_ / "a/b");
    std::ofstream(File()) << "x";
    chmod((temp_ / "a").c_str(), 0755);
    chmod((temp_ / "a/b").c_str(), 0755);
    chmod(File().c_str(), 0644);
  }

  std::string File() const { return temp_ / "a/b/file"; }

  static void ExpectRefused(const std::string& path, const std::string& named) {
    const absl::Status status = CheckTrustedPath(path);
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(named + ": "));
  }

  const TempDirectory temp_;
};

TEST_F(TrustedPathTest, AFileThatOnlyWeMayChangePasses) {
  EXPECT_TRUE(CheckTrustedPath(File()).ok()) << CheckTrustedPath(File());
  EXPECT_TRUE(CheckTrustedPath("/etc/passwd").ok()) << CheckTrustedPath("/etc/passwd");
  EXPECT_TRUE(CheckTrustedPath("/").ok()) << CheckTrustedPath("/");
}

TEST_F(TrustedPathTest, AFileThatEverybodyMayWriteIsRefusedWithTheMend) {
  ASSERT_EQ(chmod(File().c_str(), 0666), 0);
  ExpectRefused(File(), File());
  EXPECT_THAT(std::string(CheckTrustedPath(File()).message()),
              HasSubstr("(mode 0666); run: chmod go-w " + File()));
}

TEST_F(TrustedPathTest, ADirectoryOnTheWayThatEverybodyMayWriteIsNamed) {
  ASSERT_EQ(chmod((temp_ / "a").c_str(), 0777), 0);
  ExpectRefused(File(), temp_ / "a");
}

TEST_F(TrustedPathTest, AStickyDirectoryMayBeWrittenByAll) {
  ASSERT_EQ(chmod((temp_ / "a").c_str(), 01777), 0);
  EXPECT_TRUE(CheckTrustedPath(File()).ok()) << CheckTrustedPath(File());
}

TEST_F(TrustedPathTest, OurOwnGroupMayWriteAndNoOther) {
  ASSERT_EQ(chmod(File().c_str(), 0664), 0);
  EXPECT_TRUE(CheckTrustedPath(File()).ok()) << CheckTrustedPath(File());
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can give a file to another group";
  }
  ASSERT_EQ(chown(File().c_str(), 0, 65534), 0);
  ExpectRefused(File(), File());
}

TEST_F(TrustedPathTest, AnotherUsersFileAndDirectoryAreRefused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can give a file away";
  }
  ASSERT_EQ(chown(File().c_str(), 65534, 0), 0);
  ExpectRefused(File(), File());
  ASSERT_EQ(chown(File().c_str(), 0, 0), 0);
  ASSERT_EQ(chown((temp_ / "a/b").c_str(), 65534, 0), 0);
  ExpectRefused(File(), temp_ / "a/b");
}

TEST_F(TrustedPathTest, ALinkLeadsThroughTheDirectoriesOfItsTarget) {
  std::filesystem::create_directory(temp_ / "links");
  std::filesystem::create_symlink("../a/./b/../b/file", temp_ / "links/relative");
  std::filesystem::create_symlink(temp_ / "links/relative", temp_ / "links/absolute");
  EXPECT_TRUE(CheckTrustedPath(temp_ / "links/absolute").ok());
  ASSERT_EQ(chmod((temp_ / "a").c_str(), 0777), 0);
  ExpectRefused(temp_ / "links/absolute", temp_ / "a");
}

TEST_F(TrustedPathTest, AnotherUsersLinkIsRefusedAlsoWhereItsTargetIsOurs) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can give a link away";
  }
  std::filesystem::create_symlink(File(), temp_ / "link");
  ASSERT_EQ(lchown((temp_ / "link").c_str(), 65534, 0), 0);
  ExpectRefused(temp_ / "link", temp_ / "link");
}

TEST_F(TrustedPathTest, ACircleOfLinksAndAMissingFileAreErrorsThatNameThem) {
  std::filesystem::create_symlink("two", temp_ / "one");
  std::filesystem::create_symlink("one", temp_ / "two");
  EXPECT_THAT(std::string(CheckTrustedPath(temp_ / "one").message()),
              HasSubstr("too many symbolic links"));
  EXPECT_TRUE(absl::IsNotFound(CheckTrustedPath(temp_ / "nothing")));
}

TEST_F(TrustedPathTest, ARelativePathIsTakenFromTheWorkingDirectory) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(temp_ / "a");
  EXPECT_TRUE(CheckTrustedPath("b/file").ok());
  chmod((temp_ / "a/b").c_str(), 0777);
  EXPECT_TRUE(absl::IsPermissionDenied(CheckTrustedPath("b/file")));
  std::filesystem::current_path(before);
}

// As of a shell's <(…): what counts is what is open.
TEST_F(TrustedPathTest, OfADescriptorTheOpenFileOrPipeCounts) {
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(pipe(ends.data()), 0);
  const UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  for (const char* form : {"/dev/fd/", "/proc/self/fd/"}) {
    const std::string path = form + std::to_string(reading.get());
    EXPECT_TRUE(CheckTrustedPath(path).ok()) << CheckTrustedPath(path);
  }
  const UniqueFd file(open(File().c_str(), O_RDONLY | O_CLOEXEC));
  const std::string path = "/dev/fd/" + std::to_string(file.get());
  ASSERT_EQ(unlink(File().c_str()), 0);
  EXPECT_TRUE(CheckTrustedPath(path).ok()) << "without a name it can be replaced by nobody";
  ASSERT_EQ(fchmod(file.get(), 0666), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(CheckTrustedPath(path))) << CheckTrustedPath(path);
  const UniqueFd directory(open((temp_ / "a").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(chmod((temp_ / "a").c_str(), 0777), 0);
  ExpectRefused("/dev/fd/" + std::to_string(directory.get()) + "/b", temp_ / "a");
}

}  // namespace
}  // namespace muster
