#include "agent/supervisor/pmix/pmix_relay.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

UniqueFd Call(int port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

// All that comes, up to the end.
std::string ReadAll(int fd) {
  std::string text;
  std::string piece(1 << 16, '\0');
  for (ssize_t got = 0; (got = read(fd, piece.data(), piece.size())) > 0;) {
    text.append(piece, 0, static_cast<std::size_t>(got));
  }
  return text;
}

class PmixRelayTest : public ::testing::Test {
 protected:
  // The relay in front of a server of ours.
  void Begin(std::size_t connections_max, uid_t user = geteuid()) {
    int server_port = 0;
    server_ = OpenPmixDoor(&server_port).value();
    ASSERT_TRUE(StartPmixRelay(OpenPmixDoor(&port_).value(),
                               absl::StrCat("127.0.0.1:", server_port), connections_max, user)
                    .ok());
  }
  UniqueFd Accept() const {
    for (int i = 0; i < 10000; ++i) {
      UniqueFd fd(accept4(server_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (fd.valid()) {
        return fd;
      }
      usleep(1000);
    }
    ADD_FAILURE() << "nobody came";
    return {};
  }

  UniqueFd server_;
  int port_ = 0;
};

TEST_F(PmixRelayTest, CarriesAllBytesEitherWayAndTheEndBehindThem) {
  Begin(4);
  const std::string much(std::size_t{3} << 20, 'x');
  const UniqueFd rank = Call(port_);
  const UniqueFd server = Accept();
  std::thread writes([&] {
    for (std::size_t at = 0; at < much.size();) {
      const ssize_t sent = write(rank.get(), much.data() + at, much.size() - at);
      ASSERT_GT(sent, 0);
      at += static_cast<std::size_t>(sent);
    }
    shutdown(rank.get(), SHUT_WR);
  });
  EXPECT_EQ(ReadAll(server.get()), much);
  writes.join();
  ASSERT_EQ(write(server.get(), "answer", 6), 6);
  shutdown(server.get(), SHUT_WR);
  EXPECT_EQ(ReadAll(rank.get()), "answer");
}

TEST_F(PmixRelayTest, ARankThatIsGoneEndsItsConnectionAndNoOther) {
  Begin(4);
  UniqueFd gone = Call(port_);
  const UniqueFd its = Accept();
  const UniqueFd stays = Call(port_);
  const UniqueFd other = Accept();
  const linger now = {1, 0};
  setsockopt(gone.get(), SOL_SOCKET, SO_LINGER, &now, sizeof(now));  // as one that is killed
  gone.reset();
  EXPECT_EQ(ReadAll(its.get()), "");
  ASSERT_EQ(write(stays.get(), "x", 1), 1);
  char got = 0;
  EXPECT_EQ(read(other.get(), &got, 1), 1);
}

TEST_F(PmixRelayTest, MoreCallersThanItMayHaveAreTurnedAway) {
  Begin(1);
  const UniqueFd first = Call(port_);
  const UniqueFd its = Accept();
  const UniqueFd second = Call(port_);
  EXPECT_EQ(ReadAll(second.get()), "");
  ASSERT_EQ(write(first.get(), "x", 1), 1);
  char got = 0;
  EXPECT_EQ(read(its.get(), &got, 1), 1);
}

// Where we are root, a child is the stranger; else the relay is another user's.
TEST_F(PmixRelayTest, AnotherUserOfTheNodeIsTurnedAwayAndTakesNoRanksPlace) {
  constexpr uid_t kStranger = 65534;
  const bool is_root = geteuid() == 0;
  Begin(1, is_root ? 0 : kStranger);
  const pid_t stranger = fork();
  if (stranger == 0) {
    alarm(20);  // one that came through would wait for ever
    if (is_root && setresuid(kStranger, kStranger, kStranger) != 0) {
      _exit(2);
    }
    const UniqueFd caller = Call(port_);
    _exit(ReadAll(caller.get()).empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(stranger, &status, 0), stranger);
  EXPECT_EQ(status, 0);
  EXPECT_LT(accept4(server_.get(), nullptr, nullptr, SOCK_CLOEXEC), 0) << "it came through";
  if (is_root) {
    const UniqueFd rank = Call(port_);
    const UniqueFd its = Accept();
    ASSERT_EQ(write(rank.get(), "x", 1), 1);
    char got = 0;
    EXPECT_EQ(read(its.get(), &got, 1), 1);
  }
}

TEST_F(PmixRelayTest, AnAddressThatIsNoneIsRefused) {
  int port = 0;
  for (const char* text : {"", "127.0.0.1", "host:1", "127.0.0.1:99999"}) {
    EXPECT_FALSE(StartPmixRelay(OpenPmixDoor(&port).value(), text, 1, geteuid()).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::agent
