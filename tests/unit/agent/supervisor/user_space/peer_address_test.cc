#include "agent/supervisor/user_space/peer_address.h"

#include <gmock/gmock.h>
#include <netinet/ip.h>

namespace muster::agent {
namespace {

int MarkOf(const UniqueFd& socket) {
  int mark = 0;
  socklen_t size = sizeof mark;
  EXPECT_EQ(getsockopt(socket.get(), IPPROTO_IP, IP_TOS, &mark, &size), 0);
  return mark;
}

TEST(PeerAddressTest, PacketsAreMarkedAndADeviceThatIsNotHereChangesNothing) {
  const UniqueFd marked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_TRUE(KeepTo({.devices = {"no-such-nic"}, .dscp = 10}, marked.get(), AF_INET));
  EXPECT_EQ(MarkOf(marked), 40);
  const UniqueFd plain(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_TRUE(KeepTo({}, plain.get(), AF_INET));
  EXPECT_EQ(MarkOf(plain), 0);
}

TEST(PeerAddressTest, OnOneMachineOnlyTheLoopbackListensWhateverTheTraffic) {
  const absl::StatusOr<PeerListener> listener =
      ListenForPeers(true, {.devices = {"no-such-nic"}, .dscp = 10});
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_THAT(listener->addresses, ::testing::ElementsAre(::testing::StartsWith("127.0.0.1:")));
}

}  // namespace
}  // namespace muster::agent
