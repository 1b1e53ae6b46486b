#include "agent/node/network/tcp_connections.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

std::uint64_t InodeOf(const UniqueFd& fd) {
  struct stat status {};
  EXPECT_EQ(fstat(fd.get(), &status), 0);
  return status.st_ino;
}

// A connection of this process with itself over the loopback.
struct Pair {
  UniqueFd near;
  UniqueFd far;
};

Pair Connect(int family) {
  sockaddr_storage address{};
  address.ss_family = static_cast<sa_family_t>(family);
  socklen_t size = sizeof(sockaddr_in);
  if (family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address).sin6_addr = in6addr_loopback;
    size = sizeof(sockaddr_in6);
  } else {
    reinterpret_cast<sockaddr_in&>(address).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  const UniqueFd listener(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Pair pair{UniqueFd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)), UniqueFd()};
  if (bind(listener.get(), plain, size) == 0 && listen(listener.get(), 1) == 0 &&
      getsockname(listener.get(), plain, &size) == 0 &&
      connect(pair.near.get(), plain, size) == 0) {
    pair.far = UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  return pair;
}

const TcpConnection* Find(const std::vector<TcpConnection>& connections, const UniqueFd& fd) {
  for (const TcpConnection& connection : connections) {
    if (connection.inode == InodeOf(fd)) {
      return &connection;
    }
  }
  return nullptr;
}

void ExpectCounted(int family) {
  const Pair pair = Connect(family);
  if (!pair.far.valid()) {
    GTEST_SKIP() << "no loopback of that family";
  }
  constexpr std::size_t kBytes = 10'000;
  const std::vector<char> text(kBytes, 'x');
  std::vector<char> read_back(kBytes);
  ASSERT_EQ(send(pair.near.get(), text.data(), kBytes, 0), static_cast<ssize_t>(kBytes));
  ASSERT_EQ(recv(pair.far.get(), read_back.data(), kBytes, MSG_WAITALL),
            static_cast<ssize_t>(kBytes));
  const auto connections = ReadTcpConnections();
  ASSERT_TRUE(connections.has_value());
  const TcpConnection* const near = Find(*connections, pair.near);
  const TcpConnection* const far = Find(*connections, pair.far);
  ASSERT_NE(near, nullptr);
  ASSERT_NE(far, nullptr);
  EXPECT_TRUE(near->local);
  EXPECT_TRUE(far->local);
  EXPECT_NE(near->cookie, far->cookie);
  EXPECT_GE(near->counters.sent + near->counters.queued, Bytes(kBytes));
  EXPECT_EQ(far->counters.received, Bytes(kBytes));
  EXPECT_EQ(near->counters.resent, Bytes(0));
  EXPECT_TRUE(near->counters.busy.has_value());
}

TEST(TcpConnections, WhatAConnectionSentAndReceivedIsCountedAtItsEnds) {
  ExpectCounted(AF_INET);
}

TEST(TcpConnections, AConnectionOfIpv6IsCountedTheSame) {
  ExpectCounted(AF_INET6);
}

TEST(TcpConnections, ASenderIsBusyWhileTheOtherEndDoesNotRead) {
  const Pair pair = Connect(AF_INET);
  ASSERT_TRUE(pair.far.valid());
  const std::vector<char> text(1 << 20, 'x');
  while (send(pair.near.get(), text.data(), text.size(), MSG_DONTWAIT) > 0) {
  }
  constexpr std::chrono::milliseconds kTime{50};
  usleep(static_cast<useconds_t>(std::chrono::microseconds(kTime).count()));
  const auto connections = ReadTcpConnections();
  ASSERT_TRUE(connections.has_value());
  const TcpConnection* const near = Find(*connections, pair.near);
  ASSERT_NE(near, nullptr);
  EXPECT_GT(near->counters.queued, Bytes(0));
  EXPECT_GE(near->counters.busy, kTime - std::chrono::milliseconds(10))
      << "the kernel's clock ticks";
}

TEST(TcpConnections, WhatAnOlderKernelDoesNotCountIsNotNothing) {
  struct tcp_info info {};
  info.tcpi_bytes_acked = 7;
  info.tcpi_busy_time = 8;
  info.tcpi_bytes_retrans = 9;
  const auto bytes = std::as_bytes(std::span(&info, 1));
  const auto all = CountersOf(bytes);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->sent, Bytes(7));
  EXPECT_EQ(all->busy, std::chrono::microseconds(8));
  EXPECT_EQ(all->resent, Bytes(9));
  const auto before_retransmissions =
      CountersOf(bytes.first(offsetof(struct tcp_info, tcpi_bytes_retrans)));
  ASSERT_TRUE(before_retransmissions.has_value());
  EXPECT_EQ(before_retransmissions->busy, std::chrono::microseconds(8));
  EXPECT_EQ(before_retransmissions->resent, std::nullopt);
  const auto before_times = CountersOf(bytes.first(offsetof(struct tcp_info, tcpi_busy_time)));
  ASSERT_TRUE(before_times.has_value());
  EXPECT_EQ(before_times->busy, std::nullopt);
  EXPECT_FALSE(CountersOf(bytes.first(offsetof(struct tcp_info, tcpi_bytes_acked))).has_value());
  EXPECT_FALSE(CountersOf({}).has_value());
}

}  // namespace
}  // namespace muster::agent
