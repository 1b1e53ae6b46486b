#include "daemon/door/known_connections.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "daemon/door/socket_facts.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {
namespace {

UniqueFd Socket() {
  return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

TEST(KnownConnections, ACallerHasNoMoreThanItsMostAndOthersTheirs) {
  KnownConnections known;
  known.SetMost(2);
  EXPECT_TRUE(known.Claim("uid 1") && known.Claim("uid 1"));
  EXPECT_FALSE(known.Claim("uid 1"));
  EXPECT_TRUE(known.Claim("uid 2"));
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(known.Claim("")) << "no name, no bound";
  }
}

TEST(KnownConnections, APlaceComesBackWhenTheConnectionHasEndedOrNeverBegan) {
  KnownConnections known;
  known.SetMost(2);
  std::array<UniqueFd, 2> sockets = {Socket(), Socket()};
  for (const UniqueFd& each : sockets) {
    ASSERT_TRUE(known.Claim("uid 1"));
    known.Add(each.get(), CookieOf(each.get()), true, "uid 1");
  }
  known.Look();
  EXPECT_EQ(known.size(), 2U);
  EXPECT_EQ(known.of_unix(), 2U);
  EXPECT_FALSE(known.Claim("uid 1"));
  sockets[0].reset();
  known.Look();
  EXPECT_EQ(known.of_unix(), 1U);
  ASSERT_TRUE(known.Claim("uid 1"));
  known.Look();
  EXPECT_FALSE(known.Claim("uid 1")) << "a claim counts until it is given up";
  known.GiveUp("uid 1");
  EXPECT_TRUE(known.Claim("uid 1"));
}

TEST(KnownConnections, AnotherSocketOfTheSameNumberIsNotTheOneThatEnded) {
  KnownConnections known;
  known.SetMost(1);
  UniqueFd first = Socket();
  const int number = first.get();
  ASSERT_TRUE(known.Claim("uid 1"));
  known.Add(number, CookieOf(number), false, "uid 1");
  first.reset();
  const UniqueFd second = Socket();
  ASSERT_EQ(second.get(), number);
  known.Look();
  EXPECT_EQ(known.size(), 0U);
  EXPECT_TRUE(known.Claim("uid 1"));
}

}  // namespace
}  // namespace muster::daemon
