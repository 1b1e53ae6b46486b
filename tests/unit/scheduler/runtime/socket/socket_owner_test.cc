#include "scheduler/runtime/socket/socket_owner.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "scheduler/runtime/unique_fd.h"

namespace muster {
namespace {

// A listener on the loopback and a connection to it, both ends ours.
class SocketOwnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    listener_.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ASSERT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener_.get(), 8), 0);
    ASSERT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    address_ = address;
    if (!TellsOwners(listener_.get())) {
      GTEST_SKIP() << "this kernel does not tell whose a socket is";
    }
  }
  UniqueFd Call(int family = AF_INET) {
    UniqueFd caller(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in6 mapped{};
    mapped.sin6_family = AF_INET6;
    mapped.sin6_port = address_.sin_port;
    EXPECT_EQ(inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr), 1);
    const auto* const at = family == AF_INET ? reinterpret_cast<const sockaddr*>(&address_)
                                             : reinterpret_cast<const sockaddr*>(&mapped);
    EXPECT_EQ(connect(caller.get(), at, family == AF_INET ? sizeof(address_) : sizeof(mapped)), 0);
    return caller;
  }
  UniqueFd Accept() const { return UniqueFd(accept(listener_.get(), nullptr, nullptr)); }

  UniqueFd listener_;
  sockaddr_in address_{};
};

TEST_F(SocketOwnerTest, BothEndsOfAConnectionAreOurs) {
  const UniqueFd caller = Call();
  const UniqueFd callee = Accept();
  EXPECT_EQ(PeerOwner(callee.get()), geteuid());
  EXPECT_EQ(PeerOwner(caller.get()), geteuid());
}

TEST_F(SocketOwnerTest, AnEndThatShowsIPv4AsIPv6IsFound) {
  const UniqueFd caller = Call(AF_INET6);
  const UniqueFd callee = Accept();
  EXPECT_EQ(PeerOwner(caller.get()), geteuid());
}

TEST_F(SocketOwnerTest, AnEndThatItsProcessHasClosedHasNoOwner) {
  UniqueFd caller = Call();
  const UniqueFd callee = Accept();
  caller.reset();
  EXPECT_EQ(PeerOwner(callee.get()), std::nullopt);
}

TEST_F(SocketOwnerTest, AnEndOfAnotherUserIsHis) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can become another user";
  }
  constexpr uid_t kOther = 65534;
  const pid_t child = fork();
  if (child == 0) {
    const bool changed = setresuid(kOther, kOther, kOther) == 0;
    const UniqueFd caller = Call();
    char end = 0;
    _exit(changed && read(caller.get(), &end, 1) == 0 ? 0 : 1);
  }
  UniqueFd callee = Accept();
  EXPECT_EQ(PeerOwner(callee.get()), kOther);
  callee.reset();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(SocketOwnerTest, WhatIsNoListenerOrNoConnectionTellsNothing) {
  EXPECT_FALSE(TellsOwners(-1));
  EXPECT_EQ(PeerOwner(listener_.get()), std::nullopt);
  EXPECT_EQ(PeerOwner(-1), std::nullopt);
}

TEST(PlainAddress, AnIPv4AddressIsItselfInEitherForm) {
  sockaddr_storage mapped{};
  auto& six = reinterpret_cast<sockaddr_in6&>(mapped);
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(4711);
  ASSERT_EQ(inet_pton(AF_INET6, "::ffff:192.0.2.7", &six.sin6_addr), 1);
  const sockaddr_storage plain = PlainAddress(mapped);
  const auto& four = reinterpret_cast<const sockaddr_in&>(plain);
  EXPECT_EQ(four.sin_family, AF_INET);
  EXPECT_EQ(ntohs(four.sin_port), 4711);
  EXPECT_EQ(ntohl(four.sin_addr.s_addr), 0xC0000207U);
  ASSERT_EQ(inet_pton(AF_INET6, "2001:db8::1", &six.sin6_addr), 1);
  EXPECT_EQ(PlainAddress(mapped).ss_family, AF_INET6);
}

}  // namespace
}  // namespace muster
