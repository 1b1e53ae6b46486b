#include "agent/supervisor/user_space/unix_socket.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

bool IsReadable(int fd) {
  pollfd look = {fd, POLLIN, 0};
  return poll(&look, 1, 0) == 1;
}

class UnixSocketTest : public ::testing::Test {
 protected:
  UnixSocketTest()
      : path_(temp_ / "socket"),
        listener_(BindUnix(path_, SOCK_SEQPACKET | SOCK_NONBLOCK).value()) {}
  UniqueFd Connect() const { return ConnectUnix(path_, SOCK_SEQPACKET).value(); }

  TempDirectory temp_;
  const std::string path_;
  const UniqueFd listener_;
};

TEST_F(UnixSocketTest, AConnectionIsAccepted) {
  EXPECT_FALSE(AcceptConnection(listener_.get()).valid()) << "nobody calls";
  const UniqueFd caller = Connect();
  const UniqueFd accepted = AcceptConnection(listener_.get());
  ASSERT_TRUE(accepted.valid());
  EXPECT_EQ(send(caller.get(), "a", 1, 0), 1);
  EXPECT_TRUE(IsReadable(accepted.get()));
}

TEST_F(UnixSocketTest, WithoutADescriptorAConnectionIsClosedAndTheNextOnesAreTaken) {
  const UniqueFd first = Connect();
  const UniqueFd second = Connect();
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(UniqueFd(dup(STDIN_FILENO)).get());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool taken = AcceptConnection(listener_.get()).valid();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_FALSE(taken);
  char byte = 0;
  EXPECT_EQ(recv(first.get(), &byte, 1, MSG_DONTWAIT), 0) << "its end, not silence";
  EXPECT_TRUE(AcceptConnection(listener_.get()).valid());
  EXPECT_FALSE(IsReadable(listener_.get()));
}

}  // namespace
}  // namespace muster::agent
