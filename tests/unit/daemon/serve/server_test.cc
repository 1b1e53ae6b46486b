#include "daemon/serve/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "daemon/serve/config.h"
#include "proto/controller.grpc.pb.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate_authority.h"
#include "tests/unit/daemon/controller/quiet_acceptor.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string TempDirectory() {
  std::string path = "/tmp/muster-server.XXXXXX";
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  return path;
}

TEST(ServerTest, NoTcpAddressIsListenedOnWithoutKeysNorOneOfThisMachine) {
  wire::Controller::CallbackService service;
  for (const char* address :
       {"0.0.0.0:0", "192.0.2.1:7117", "[::]:7117", "node1:7117", "127.0.0.1:0", "127.3.2.1:0",
        "[::1]:0", "localhost:0", "127.evil.example:7117", "unix-abstract:muster"}) {
    QuietAcceptor quiet;
    const auto server = Server::Start(quiet.acceptor, {{address}, TlsFiles(), {&service}});
    ASSERT_FALSE(server.ok()) << address;
    EXPECT_NE(server.status().message().find("muster keys init"), std::string::npos)
        << server.status();
    EXPECT_EQ(server.status().message().find('\n'), std::string::npos) << server.status();
  }
}

TEST(ServerTest, KeysGoTogether) {
  TlsFiles tls;
  tls.certificate = "/nowhere/cert.pem";
  QuietAcceptor quiet;
  const auto server = Server::Start(quiet.acceptor, {{"0.0.0.0:0"}, tls, {}});
  ASSERT_FALSE(server.ok());
  EXPECT_NE(server.status().message().find("all three"), std::string::npos) << server.status();
}

// Files as `muster keys` makes them, of one role.
TlsFiles FilesOf(const CertificateSubject& subject) {
  const std::string directory = TempDirectory();
  const Time now = SystemClock().Now();
  const CertifiedKey own = CertificateAuthority::Make(now, std::chrono::hours(48)).value();
  const CertifiedKey pair = CertificateAuthority::From(own.certificate, own.key)
                                ->Issue(subject, now, std::chrono::hours(24))
                                .value();
  TlsFiles tls{directory + "/cert.pem", directory + "/cert.key", directory + "/ca.pem", ""};
  EXPECT_TRUE(WriteFileAtomically(tls.certificate, pair.certificate).ok());
  EXPECT_TRUE(WriteFileAtomically(tls.key, pair.key).ok());
  EXPECT_TRUE(WriteFileAtomically(tls.authority, own.certificate).ok());
  return tls;
}

TEST(ServerTest, AControllersKeysLetItListenAnywhere) {
  const TlsFiles tls = FilesOf({CertificateRole::kController, ""});
  wire::Controller::CallbackService service;
  QuietAcceptor quiet;
  const auto server = Server::Start(quiet.acceptor, {{"0.0.0.0:0"}, tls, {&service}});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_GT((*server)->port(), 0);
  EXPECT_NE((*server)->warning().find("expires in"), std::string::npos);
}

TEST(ServerTest, KeysThatAreNotThereAreToldWithTheWayToMakeThem) {
  const TlsFiles tls{"/none/controller.pem", "/none/controller.key", "/none/ca.pem", ""};
  const absl::Status status = CheckAddress("127.0.0.1:7117", tls);
  EXPECT_NE(status.message().find("muster keys init --keys /none"), std::string::npos) << status;
}

TEST(ServerTest, ItDoesNotStartWithAKeyThatOthersMayRead) {
  const TlsFiles tls = FilesOf({CertificateRole::kController, ""});
  ASSERT_EQ(chmod(tls.key.c_str(), 0644), 0);
  const absl::Status status = CheckAddress("0.0.0.0:0", tls);
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_NE(status.message().find("chmod 600"), std::string::npos) << status;
}

TEST(ServerTest, ItDoesNotStartWithACertificateThatIsNotAControllersNorWithAnothersKey) {
  const TlsFiles agents = FilesOf({CertificateRole::kAgent, "n1"});
  EXPECT_NE(CheckTlsFiles(agents).status().message().find("of agent n1"), std::string::npos);
  TlsFiles mixed = FilesOf({CertificateRole::kController, ""});
  mixed.key = agents.key;
  EXPECT_NE(CheckTlsFiles(mixed).status().message().find("not the key of"), std::string::npos);
}

TEST(ServerTest, ASocketPathThatIsTooLongIsRefusedByItsLength) {
  QuietAcceptor quiet;
  const auto server =
      Server::Start(quiet.acceptor, {{"unix:/tmp/" + std::string(200, 'x')}, TlsFiles(), {}});
  ASSERT_FALSE(server.ok());
  EXPECT_NE(server.status().message().find("shorter"), std::string::npos) << server.status();
}

TEST(ServerTest, TheSocketIsForItsOwnerAloneAndGoesWithTheServer) {
  const std::string path = TempDirectory() + "/c.sock";
  wire::Controller::CallbackService service;
  struct stat info {};
  {
    QuietAcceptor quiet;
    const auto server = Server::Start(quiet.acceptor, {{"unix:" + path}, TlsFiles(), {&service}});
    ASSERT_TRUE(server.ok()) << server.status();
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
  }
  EXPECT_NE(stat(path.c_str(), &info), 0);
}

TEST(ServerTest, APortThatIsTakenIsRefused) {
  const TlsFiles tls = FilesOf({CertificateRole::kController, ""});
  wire::Controller::CallbackService service;
  QuietAcceptor quiet;
  const auto first = Server::Start(quiet.acceptor, {{"127.0.0.1:0"}, tls, {&service}});
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_GT((*first)->port(), 0);
  const std::string address = "127.0.0.1:" + std::to_string((*first)->port());
  wire::Controller::CallbackService other;
  QuietAcceptor third;
  EXPECT_FALSE(Server::Start(third.acceptor, {{address}, tls, {&other}}).ok());
}

TEST(DaemonConfigTest, TheSocketInTheStateDirectoryIsTheDefault) {
  const char* argv[] = {"musterd", "--state", "/s"};
  const auto config = ParseConfig(3, argv);
  ASSERT_TRUE(config.ok());
  EXPECT_THAT(AddressesOf(*config, /*passed=*/false), ElementsAre("unix:/s/controller.sock"));
}

TEST(DaemonConfigTest, PassedSocketsTakeTheDefaultsPlaceAndNoOthers) {
  const char* argv[] = {"musterd", "--state", "/s", "--listen", "127.0.0.1:7117"};
  EXPECT_THAT(AddressesOf(*ParseConfig(3, argv), /*passed=*/true), IsEmpty());
  EXPECT_THAT(AddressesOf(*ParseConfig(5, argv), /*passed=*/true), ElementsAre("127.0.0.1:7117"));
}

TEST(DaemonConfigTest, TheFileSaysWhoMaySpeakWhereTheCommandLineDoesNot) {
  const std::string path = TempDirectory() + "/musterd.toml";
  ASSERT_TRUE(WriteFileAtomically(path,
                                  "listen = [\"0.0.0.0:7117\"]\nkeys = \"/k\"\nmin_uid = 500\n"
                                  "munge_socket = \"/run/m\"\n")
                  .ok());
  const char* by_file[] = {"musterd", "--state", "/s", "--config", path.c_str()};
  const auto config = ParseConfig(5, by_file);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->listen, std::vector<std::string>{"0.0.0.0:7117"});
  EXPECT_EQ(config->tls.certificate, "/k/controller.pem");
  EXPECT_EQ(config->tls.key, "/k/controller.key");
  EXPECT_EQ(config->tls.authority, "/k/ca.pem");
  EXPECT_EQ(config->tls.revoked, "/k/revoked");
  EXPECT_EQ(config->munge_socket, "/run/m");
  EXPECT_EQ(config->least_uid(), 500U);
  const char* by_both[] = {"musterd", "--state",   "/s",   "--config", path.c_str(), "--keys",
                           "/o",      "--min-uid", "1000", "--listen", "127.0.0.1:1"};
  const auto both = ParseConfig(11, by_both);
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(both->listen, std::vector<std::string>{"127.0.0.1:1"});
  EXPECT_EQ(both->tls.certificate, "/o/controller.pem");
  EXPECT_EQ(both->least_uid(), 1000U);
}

TEST(DaemonConfigTest, WithKeysNoJobOfRootsIsTakenWhateverTheLeastUser) {
  const char* argv[] = {"musterd", "--state", "/s", "--keys", "/k", "--min-uid", "0"};
  EXPECT_EQ(ParseConfig(7, argv)->least_uid(), 1U);
}

TEST(DaemonConfigTest, WithoutKeysNobodyIsBelowTheLeastUser) {
  const char* argv[] = {"musterd", "--state", "/s"};
  EXPECT_EQ(ParseConfig(3, argv)->least_uid(), 0U);
}

TEST(DaemonConfigTest, BadUsageIsOneLine) {
  for (const char* option : {"--no-such-option", "--ready-fd=x"}) {
    const char* argv[] = {"musterd", "--state", "/s", option};
    const auto config = ParseConfig(4, argv);
    ASSERT_FALSE(config.ok()) << option;
    EXPECT_EQ(config.status().message().find('\n'), std::string::npos);
  }
  const char* argv[] = {"musterd"};
  EXPECT_FALSE(ParseConfig(1, argv).ok());
}

}  // namespace
}  // namespace muster::daemon
