#include "daemon/access/access.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/convert/client_service.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate_authority.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {
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

Transport Plain(const std::string& peer) {
  return {.peer = peer, .tls = false, .certificate = ""};
}

const Time kNow = SystemClock().Now();

const CertificateAuthority& Authority() {
  static const CertificateAuthority authority = [] {
    const CertifiedKey own = CertificateAuthority::Make(kNow, std::chrono::hours(100)).value();
    return CertificateAuthority::From(own.certificate, own.key).value();
  }();
  return authority;
}

std::string CertificateOf(CertificateRole role, const std::string& name) {
  return Authority().Issue({role, name}, kNow, std::chrono::hours(24))->certificate;
}

Transport Tls(const std::string& certificate) {
  return {.peer = "ipv4:192.0.2.7:40000", .tls = true, .certificate = certificate};
}

// A caller of each kind that the rules tell apart.
struct Kind {
  std::string name;
  Caller caller;
};
Caller Powerful(Caller caller, Powers powers) {
  caller.powers = std::move(powers);
  return caller;
}
std::vector<Kind> Kinds() {
  const User self = UserOf(geteuid());
  const User other{geteuid() + 4242, 4242, "mallory"};
  const User nobody{static_cast<uid_t>(-1), static_cast<gid_t>(-1), ""};
  return {{"owner", {Role::kOwner, self}},
          {"operator", {Role::kUser, self}},
          {"user", {Role::kUser, other}},
          {"operator's-key", {Role::kClient, self}},
          {"client", {Role::kClient, other}},
          {"agent", {Role::kAgent, nobody, "n1"}},
          {"controller", {Role::kController, nobody}},
          {"token", {Role::kToken, other}},
          {"operator's-token", {Role::kToken, self}},
          {"reader", {Role::kReader, self}},
          {"site's-operator", Powerful({Role::kUser, other}, {true, 0, {}})},
          {"site's-operator's-token", Powerful({Role::kToken, other}, {true, 0, {}})},
          {"coordinator", Powerful({Role::kUser, other}, {false, 0, {"physics"}})},
          {"viewer", Powerful({Role::kUser, other}, {false, 0, {}})}};
}

// Every method and who may call it, as the file beside this one has it.
std::string Matrix() {
  std::string text = "method";
  for (const Kind& kind : Kinds()) {
    text += " " + kind.name;
  }
  text += "\n";
  for (const std::string& method : AllMethods()) {
    text += method;
    for (const Kind& kind : Kinds()) {
      text += MayCall(kind.caller, method).ok() ? " yes" : " no";
    }
    text += "\n";
  }
  return text;
}

TEST(AccessTest, EveryMethodOfOurServicesHasARow) {
  EXPECT_TRUE(CheckEveryMethodHasARow().ok()) << CheckEveryMethodHasARow();
}

TEST(AccessTest, WhoMayCallWhatIsWhatTheMatrixSays) {
  EXPECT_EQ(Matrix(), ReadFile(MUSTER_ACCESS_MATRIX).value());
}

TEST(AccessTest, ATokenThatOnlyReadsMayCallWhatChangesNothingAndNothingElse) {
  const Caller reader{Role::kReader, User{geteuid(), getegid(), "reader"}};
  for (int i = 0; i < ClientServiceType().method_count(); ++i) {
    const auto& method = *ClientServiceType().method(i);
    EXPECT_EQ(MayCall(reader, MethodPath(method)).ok(), ChangesNothing(method)) << method.name();
  }
}

TEST(AccessTest, AMethodWithoutARowIsRefused) {
  for (const Kind& kind : Kinds()) {
    for (const char* method : {"/muster.wire.Controller/SubmitX", "/muster.wire.Controller/Sub",
                               "/muster.wire.controller/Submit", "Submit", "/", ""}) {
      EXPECT_TRUE(absl::IsPermissionDenied(MayCall(kind.caller, method))) << kind.name << method;
    }
  }
}

TEST(AccessTest, AUnixSocketIsItsOwners) {
  const absl::StatusOr<Caller> caller = Identify(Plain("unix:/tmp/x.sock"));
  ASSERT_TRUE(caller.ok());
  EXPECT_EQ(caller->user.uid, geteuid());
}

TEST(AccessTest, ATcpConnectionProvesNothingWhoseverItIs) {
  const Connected pair = Connect();
  const absl::Status status =
      Identify(Plain(absl::StrCat("ipv4:127.0.0.1:", pair.client_port))).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
}

// A connected socket whose own end is 127.0.0.HOST:`port`, to a listener of its own.
struct Bound {
  UniqueFd listener;
  UniqueFd socket;
};
Bound ConnectFrom(const char* host, std::uint16_t port) {
  Bound made{UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
             UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  const int one = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(made.listener.get(), raw, length), 0);
  EXPECT_EQ(listen(made.listener.get(), 1), 0);
  sockaddr_in own = address;
  EXPECT_EQ(getsockname(made.listener.get(), raw, &length), 0);
  EXPECT_EQ(setsockopt(made.socket.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
  own.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, host, &own.sin_addr), 1);
  EXPECT_EQ(bind(made.socket.get(), reinterpret_cast<sockaddr*>(&own), sizeof(own)), 0)
      << std::strerror(errno);
  EXPECT_EQ(connect(made.socket.get(), raw, length), 0);
  return made;
}

// Another user shares the port of a connection of ours, and closes their half at once: what the
// kernel lists as established is then ours alone.
TEST(AccessTest, NobodyHidesBehindAnothersConnectionByAHalfClose) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can become another user";
  }
  std::uint16_t port = 0;
  {
    const Connected pair = Connect();
    port = pair.client_port;
  }
  ++port;
  const Bound ours = ConnectFrom("127.0.0.1", port);
  int ready[2] = {-1, -1};
  int done[2] = {-1, -1};
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(done[1]);
    const bool other = setresgid(61002, 61002, 61002) == 0 && setresuid(61002, 61002, 61002) == 0;
    const Bound theirs = ConnectFrom("127.0.0.1", port);
    const bool closed = shutdown(theirs.socket.get(), SHUT_WR) == 0;
    char word = other && closed ? 'y' : 'n';
    _exit(write(ready[1], &word, 1) == 1 && read(done[0], &word, 1) == 0 ? 0 : 1);
  }
  close(done[0]);
  char word = 0;
  ASSERT_EQ(read(ready[0], &word, 1), 1);
  EXPECT_EQ(word, 'y');
  const absl::Status status = Identify(Plain(absl::StrCat("ipv4:127.0.0.1:", port))).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  close(done[1]);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST(AccessTest, ACallerFromElsewhereWithoutTlsIsRefused) {
  for (const char* peer : {"ipv4:192.0.2.7:40000", "ipv6:%5B2001:db8::1%5D:40000", "", "vsock:3",
                           "ipv4:127.0.0.1:40000", "ipv6:%5B::1%5D:40000", "unix-abstract:x"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(Identify(Plain(peer)).status())) << peer;
  }
}

TEST(AccessTest, ACertificateGivesItsRoleAndNoOther) {
  const User self = UserOf(geteuid());
  const absl::StatusOr<Caller> client =
      Identify(Tls(CertificateOf(CertificateRole::kClient, self.name)));
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ(client->role, Role::kClient);
  EXPECT_EQ(client->user, self);
  const absl::StatusOr<Caller> agent = Identify(Tls(CertificateOf(CertificateRole::kAgent, "n1")));
  ASSERT_TRUE(agent.ok());
  EXPECT_EQ(agent->role, Role::kAgent);
  EXPECT_EQ(agent->node, "n1");
  EXPECT_FALSE(IsOperator(*agent));
  const absl::StatusOr<Caller> controller =
      Identify(Tls(CertificateOf(CertificateRole::kController, "")));
  ASSERT_TRUE(controller.ok());
  EXPECT_EQ(controller->role, Role::kController);
  EXPECT_FALSE(IsOperator(*controller));
}

TEST(AccessTest, ACertificateOfAUserWhomNobodyKnowsIsRefused) {
  const absl::Status status =
      Identify(Tls(CertificateOf(CertificateRole::kClient, "no-such-user"))).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_NE(status.message().find("client no-such-user"), std::string::npos) << status;
}

TEST(AccessTest, ARevokedCertificateIsRefusedByName) {
  const std::string pem = CertificateOf(CertificateRole::kAgent, "n1");
  const std::string serial = ReadCertificate(pem)->serial;
  const absl::Status status = Identify(Tls(pem), "00\n" + serial + " agent n1\n").status();
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_NE(status.message().find("agent n1"), std::string::npos) << status;
  EXPECT_TRUE(Identify(Tls(pem), "00\n").ok());
}

TEST(AccessTest, OverTlsNothingWeakerCounts) {
  // Neither the peer's words nor the kernel's are asked.
  Transport transport{.peer = "unix:/tmp/x.sock", .tls = true, .certificate = ""};
  EXPECT_TRUE(absl::IsUnauthenticated(Identify(transport).status()));
  const Connected pair = Connect();
  transport.peer = absl::StrCat("ipv4:127.0.0.1:", pair.client_port);
  EXPECT_TRUE(absl::IsUnauthenticated(Identify(transport).status()));
  transport.certificate = "rubbish";
  EXPECT_TRUE(absl::IsPermissionDenied(Identify(transport).status()));
  // A certificate goes before a credential.
  transport.certificate = CertificateOf(CertificateRole::kAgent, "n1");
  transport.munge = geteuid();
  EXPECT_EQ(Identify(transport)->role, Role::kAgent);
  // Without TLS no credential counts.
  EXPECT_FALSE(
      Identify({.peer = "ipv4:192.0.2.7:1", .tls = false, .certificate = "", .munge = 0}).ok());
}

TEST(AccessTest, WhomMungeNamesIsAUserAndNoMore) {
  Transport transport{.peer = "ipv4:192.0.2.7:1", .tls = true, .certificate = ""};
  transport.munge = 54321;
  const absl::StatusOr<Caller> caller = Identify(transport);
  ASSERT_TRUE(caller.ok());
  EXPECT_EQ(caller->role, Role::kUser);
  EXPECT_EQ(caller->user.uid, 54321U);
  EXPECT_EQ(IsOperator(*caller), geteuid() == 54321);
  transport.munge.reset();
  transport.munge_refusal = "MUNGE: Replayed credential";
  EXPECT_NE(Identify(transport).status().message().find("Replayed"), std::string::npos);
}

TEST(AccessTest, OnlyOwnersAndOperatorsSeeWhatIsAJobOwnersBusiness) {
  const Caller al{Role::kUser, User{geteuid() + 1, 1, "al"}};
  EXPECT_TRUE(MaySee(al, "al"));
  for (const char* other : {"alice", "a", "AL", ""}) {
    EXPECT_FALSE(MaySee(al, other)) << other;
  }
  EXPECT_TRUE(MaySee({Role::kOwner, UserOf(geteuid())}, "alice"));
}

}  // namespace
}  // namespace muster::daemon
