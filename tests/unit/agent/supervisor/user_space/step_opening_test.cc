#include "agent/supervisor/user_space/step_opening.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

// A directory that is /tmp to a job's processes, one of which waits in there.
class PrivateRunTest : public ::testing::Test {
 protected:
  UniqueFd ListenIn(const std::string& directory) const {
    std::filesystem::create_directory(absl::StrCat(directory, "/", name_));
    return BindUnix(absl::StrCat(directory, "/", name_, "/io.sock"), SOCK_STREAM).value();
  }
  static bool IsCalled(const UniqueFd& listener) {
    fcntl(listener.get(), F_SETFL, O_NONBLOCK);
    return UniqueFd(accept(listener.get(), nullptr, nullptr)).valid();
  }

  const TempDirectory place_;
  const UniqueFd tmp_{open(place_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  const std::string name_ = absl::StrCat("muster-run.test-", getpid());
  const std::string address_ = absl::StrCat("unix:/tmp/", name_, "/io.sock");
};

TEST_F(PrivateRunTest, IsReachedWhereTheMachineHasNoneOfThatName) {
  const UniqueFd inside = ListenIn(place_.path());
  EXPECT_THAT(std::string(ConnectToRun(address_).status().message()),
              HasSubstr(absl::StrCat("cannot connect to /tmp/", name_)));
  EXPECT_TRUE(ConnectToRun(address_, tmp_.get()).ok());
  EXPECT_TRUE(IsCalled(inside));
  const auto brought = OpenStep({.address = address_, .private_tmp = tmp_.get(), .refused = true});
  ASSERT_TRUE(brought.ok()) << brought.status();
  EXPECT_EQ(brought->descriptors.size(), 1U);
}

TEST_F(PrivateRunTest, GivesWayToTheOneThatWaitsOutside) {
  const UniqueFd inside = ListenIn(place_.path());
  const UniqueFd outside = ListenIn("/tmp");
  EXPECT_TRUE(ConnectToRun(address_, tmp_.get()).ok());
  std::filesystem::remove_all(absl::StrCat("/tmp/", name_));
  EXPECT_TRUE(IsCalled(outside));
  EXPECT_FALSE(IsCalled(inside));
}

TEST_F(PrivateRunTest, IsNamedAsItWasAskedForWhereThereIsNone) {
  EXPECT_THAT(std::string(ConnectToRun(address_, tmp_.get()).status().message()),
              HasSubstr(absl::StrCat("cannot connect to /tmp/", name_)));
  EXPECT_FALSE(ConnectToRun("unix:/nonexistent/io.sock", tmp_.get()).ok());
}

}  // namespace
}  // namespace muster::agent
