#include "daemon/access.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {
namespace {

// Two ends of a TCP connection over loopback.
struct Connected {
  UniqueFd listener;
  UniqueFd client;
  UniqueFd server;
  std::uint16_t client_port = 0;
};

Connected Connect() {
  Connected pair{UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
                 UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), UniqueFd(), 0};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(pair.listener.get(), raw, length), 0);
  EXPECT_EQ(listen(pair.listener.get(), 1), 0);
  EXPECT_EQ(getsockname(pair.listener.get(), raw, &length), 0);
  EXPECT_EQ(connect(pair.client.get(), raw, length), 0);
  EXPECT_EQ(getsockname(pair.client.get(), raw, &length), 0);
  pair.client_port = ntohs(address.sin_port);
  pair.server = UniqueFd(accept(pair.listener.get(), nullptr, nullptr));
  return pair;
}

TEST(AccessTest, EveryMethodOfOurServicesHasARow) {
  EXPECT_TRUE(CheckEveryMethodHasARow().ok()) << CheckEveryMethodHasARow();
}

TEST(AccessTest, AMethodWithoutARowIsRefused) {
  const Caller owner{Role::kOwner, UserOf(geteuid())};
  EXPECT_TRUE(MayCall(owner, "/muster.wire.Controller/Submit").ok());
  EXPECT_TRUE(absl::IsPermissionDenied(MayCall(owner, "/muster.wire.Controller/SubmitX")));
  EXPECT_TRUE(absl::IsPermissionDenied(MayCall(owner, "/muster.wire.Controller/Sub")));
  EXPECT_TRUE(absl::IsPermissionDenied(MayCall(owner, "")));
}

TEST(AccessTest, AUnixSocketIsItsOwners) {
  const absl::StatusOr<Caller> caller = Identify("unix:/tmp/x.sock", false);
  ASSERT_TRUE(caller.ok());
  EXPECT_EQ(caller->user.uid, geteuid());
}

TEST(AccessTest, TheKernelSaysWhoseALoopbackConnectionIs) {
  const Connected pair = Connect();
  const absl::StatusOr<uid_t> uid = OwnerOfLoopbackPort(pair.client_port);
  ASSERT_TRUE(uid.ok()) << uid.status();
  EXPECT_EQ(*uid, geteuid());
  EXPECT_TRUE(Identify(absl::StrCat("ipv4:127.0.0.1:", pair.client_port), false).ok());
}

TEST(AccessTest, AConnectionThatTheKernelDoesNotListIsRefused) {
  std::uint16_t port = 0;
  {
    const Connected pair = Connect();
    port = pair.client_port;
  }
  // The closed connection lingers, but is established no more.
  EXPECT_TRUE(
      absl::IsPermissionDenied(Identify(absl::StrCat("ipv4:127.0.0.1:", port), false).status()));
}

TEST(AccessTest, ACallerFromElsewhereNeedsACertificate) {
  for (const char* peer : {"ipv4:192.0.2.7:40000", "ipv6:%5B2001:db8::1%5D:40000", "", "vsock:3",
                           "ipv4:127.0.0.1:", "ipv4:127.0.0.1:99999999"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(Identify(peer, false).status())) << peer;
  }
  EXPECT_EQ(Identify("ipv4:192.0.2.7:40000", true)->role, Role::kKeyHolder);
}

}  // namespace
}  // namespace muster
