#include "cli/dev/session_place.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

class SessionPlaceTest : public ::testing::Test {
 protected:
  SessionPlaceTest()
      : environment_({"MUSTER_JOB_ID=12", "TMPDIR=" + directory_.path()}),
        place_(*SessionPlace::Of(environment_)) {}

  const TempDirectory directory_;
  const Environment environment_;
  const SessionPlace place_;
};

TEST_F(SessionPlaceTest, IsOfAJob) {
  EXPECT_EQ(SessionPlace::Of(Environment(std::vector<std::string>{"TMPDIR=/tmp"})).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(SessionPlaceTest, TheDoorIsWhatTheKeeperSays) {
  EXPECT_TRUE(absl::IsNotFound(place_.Door().status()));
  ASSERT_TRUE(place_.Make().ok());
  EXPECT_EQ(*place_.Door(), std::nullopt);
  const SessionDoor door = {.port = 8888, .token = "secret", .url = "/lab?token=secret"};
  ASSERT_TRUE(place_.Open(door).ok());
  EXPECT_EQ(**place_.Door(), door);
  // The next attempt's is not open.
  ASSERT_TRUE(place_.Make().ok());
  EXPECT_EQ(*place_.Door(), std::nullopt);
  place_.Remove();
  EXPECT_FALSE(std::filesystem::exists(place_.path()));
}

TEST_F(SessionPlaceTest, NobodyElseReadsItAndNobodyElsesIsTaken) {
  ASSERT_TRUE(place_.Make().ok());
  struct stat status = {};
  ASSERT_EQ(stat(place_.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  place_.Remove();
  std::filesystem::create_directory(place_.path());
  ASSERT_EQ(chmod(place_.path().c_str(), 0777), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(place_.Make()));
  EXPECT_TRUE(absl::IsPermissionDenied(place_.Door().status()));
  std::filesystem::remove(place_.path());
  std::filesystem::create_directory_symlink(directory_.path(), place_.path());
  EXPECT_TRUE(absl::IsPermissionDenied(place_.Make()));
}

TEST_F(SessionPlaceTest, ShellsAreInItWhileTheyLive) {
  ASSERT_TRUE(place_.Make().ok());
  EXPECT_EQ(place_.Look().shells, 0U);
  // /dev/null is read, so it has such a time as a terminal.
  ASSERT_TRUE(place_.Enter(getpid(), "/dev/null").ok());
  ASSERT_TRUE(place_.Enter(0x7fffffff, "/dev/null").ok());  // beyond all pids
  const SessionPlace::Company company = place_.Look();
  EXPECT_EQ(company.shells, 1U);
  EXPECT_GT(company.typed, kNoTime);
  EXPECT_FALSE(company.left);
  ASSERT_TRUE(place_.Leave().ok());
  EXPECT_TRUE(place_.Look().left);
}

TEST_F(SessionPlaceTest, TheContainerOfItsShellsIsKept) {
  ASSERT_TRUE(place_.Make().ok());
  EXPECT_TRUE(place_.Container()->empty());
  const std::vector<std::string> options = {"--container-image=a b.sqsh", "--container-env=A\nB"};
  ASSERT_TRUE(place_.KeepContainer(options).ok());
  EXPECT_EQ(*place_.Container(), options);
  EXPECT_EQ(place_.Look().shells, 0U);
}

TEST_F(SessionPlaceTest, ADoorThatIsNoneIsSaid) {
  ASSERT_TRUE(place_.Make().ok());
  std::ofstream(place_.path() + "/door") << "knock\n";
  EXPECT_TRUE(absl::IsDataLoss(place_.Door().status()));
}

}  // namespace
}  // namespace muster::cli
