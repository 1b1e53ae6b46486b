#include "daemon/door/listening_socket.h"

#include <arpa/inet.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/serve/server.h"
#include "proto/controller.grpc.pb.h"
#include "tests/unit/daemon/controller/quiet_acceptor.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

// As a service manager would open it.
UniqueFd ListenAt(const std::string& path, mode_t mode, int type = SOCK_STREAM) {
  UniqueFd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  if (type == SOCK_STREAM) {
    EXPECT_EQ(listen(socket.get(), 100), 0);
  }
  return socket;
}

class Pings final : public wire::Controller::CallbackService {
 public:
  grpc::ServerUnaryReactor* Ping(grpc::CallbackServerContext* context, const wire::PingRequest*,
                                 wire::PingReply*) override {
    peer = context->peer();
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  std::string peer;
};

grpc::Status PingAt(const std::string& path) {
  const auto channel = grpc::CreateChannel("unix:" + path, grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  wire::PingReply response;
  return wire::Controller::NewStub(channel)->Ping(&context, wire::PingRequest(), &response);
}

TEST(PassedSockets, CallersOfAPassedSocketAreServedAndTakenForTheOwner) {
  const TempDirectory directory;
  const std::string path = directory / "s";
  std::vector<UniqueFd> passed;
  passed.push_back(ListenAt(path, 0600));
  Pings service;
  QuietAcceptor quiet;
  const auto server =
      Server::Start(quiet.acceptor, {{}, TlsFiles(), {&service}, std::move(passed)});
  ASSERT_TRUE(server.ok()) << server.status();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(PingAt(path).ok());
  }
  EXPECT_EQ(service.peer.find("unix:"), 0U) << service.peer;
}

TEST(PassedSockets, TheSocketOutlivesTheServerAndItsCallersAreServedByTheNext) {
  const TempDirectory directory;
  const std::string path = directory / "s";
  const UniqueFd kept = ListenAt(path, 0600);
  for (int i = 0; i < 3; ++i) {
    std::vector<UniqueFd> passed;
    passed.emplace_back(dup(kept.get()));
    Pings service;
    QuietAcceptor quiet;
    const auto server =
        Server::Start(quiet.acceptor, {{}, TlsFiles(), {&service}, std::move(passed)});
    ASSERT_TRUE(server.ok()) << server.status();
    EXPECT_TRUE(PingAt(path).ok());
    (*server)->Stop();
    EXPECT_EQ(access(path.c_str(), F_OK), 0);
  }
}

TEST(PassedSockets, ASocketThatOthersMayOpenIsRefused) {
  const TempDirectory directory;
  const UniqueFd socket = ListenAt(directory / "s", 0666);
  const absl::Status status = AddressOfPassed(socket).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_NE(status.message().find("SocketMode=0600"), std::string::npos) << status;
}

TEST(PassedSockets, OnlyAListeningStreamSocketIsTaken) {
  const TempDirectory directory;
  const UniqueFd datagrams = ListenAt(directory / "d", 0600, SOCK_DGRAM);
  EXPECT_TRUE(absl::IsInvalidArgument(AddressOfPassed(datagrams).status()));
  const UniqueFd deaf(socket(AF_UNIX, SOCK_STREAM, 0));
  EXPECT_TRUE(absl::IsInvalidArgument(AddressOfPassed(deaf).status()));
}

TEST(PassedSockets, ATcpSocketIsCalledByItsAddress) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(socket.get(), 1), 0);
  socklen_t size = sizeof(address);
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  EXPECT_EQ(AddressOfPassed(socket).value(), absl::StrCat("127.0.0.1:", ntohs(address.sin_port)));
}

TEST(PassedSockets, ATcpSocketNeedsKeysToo) {
  for (const in_addr_t host : {INADDR_ANY, INADDR_LOOPBACK}) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(host);
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(listen(socket.get(), 1), 0);
    std::vector<UniqueFd> passed;
    passed.push_back(std::move(socket));
    QuietAcceptor quiet;
    const auto server = Server::Start(quiet.acceptor, {{}, TlsFiles(), {}, std::move(passed)});
    ASSERT_FALSE(server.ok());
    EXPECT_NE(server.status().message().find("muster keys init"), std::string::npos)
        << server.status();
  }
}

// Agents take the file's owner for who serves behind it, root's, too.
TEST(PassedSockets, ASocketInRootsNameIsNotAnotherUsersToServe) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can become another user";
  }
  const TempDirectory directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0755), 0);
  const UniqueFd socket = ListenAt(directory / "s", 0600);
  ASSERT_EQ(seteuid(61002), 0);
  const absl::Status status = AddressOfPassed(socket).status();
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
}

}  // namespace
}  // namespace muster::daemon
