// The link over TCP with both ends' certificates checked.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/agent/agent_process.h"

namespace muster {
namespace {

class TlsTest : public AgentProcessTest {
 protected:
  void SetUp() override {
    if (access("/usr/bin/openssl", X_OK) != 0) {
      GTEST_SKIP() << "openssl is not here to make certificates";
    }
    MakeCertificate("right");
    MakeCertificate("wrong");
    grpc::SslServerCredentialsOptions options(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = Read("right.pem");
    options.pem_key_cert_pairs.push_back({Read("right.key"), Read("right.pem")});
    controller_ =
        std::make_unique<TestController>("localhost:0", grpc::SslServerCredentials(options));
  }
  // A certificate for localhost that signs itself.
  void MakeCertificate(const std::string& name) {
    SpawnRequest request;
    request.program = "/usr/bin/openssl";
    request.arguments = {"openssl",
                         "req",
                         "-x509",
                         "-newkey",
                         "ec",
                         "-pkeyopt",
                         "ec_paramgen_curve:prime256v1",
                         "-nodes",
                         "-days",
                         "1",
                         "-subj",
                         "/CN=localhost",
                         "-addext",
                         "subjectAltName=DNS:localhost",
                         "-keyout",
                         temp_ / (name + ".key"),
                         "-out",
                         temp_ / (name + ".pem")};
    const UniqueFd log(open((temp_ / "openssl.log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    request.fds = {{.from = log.get(), .to = STDERR_FILENO}};
    const pid_t pid = Spawn(request).value();
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_EQ(status, 0) << Read("openssl.log");
  }
  std::string Read(const std::string& name) const { return ReadFile(temp_ / name).value(); }
  void StartWith(const std::string& ours, const std::string& authority) {
    StartAgent({{"--controller", absl::StrCat("localhost:", controller_->port())},
                {"--tls-cert", temp_ / (ours + ".pem")},
                {"--tls-key", temp_ / (ours + ".key")},
                {"--tls-ca", temp_ / (authority + ".pem")}});
  }
};

TEST_F(TlsTest, AnAgentWithTheRightKeysIsTaken) {
  StartWith("right", "right");
  EXPECT_EQ(controller_->AwaitRegistration().name(), "node1");
  EXPECT_TRUE(Eventually([this] { return controller_->heartbeats() >= 1; }));
}

TEST_F(TlsTest, NeitherEndTalksToAStranger) {
  StartWith("wrong", "right");
  usleep(500'000);
  StopAgent(SIGTERM);
  StartWith("right", "wrong");
  usleep(500'000);
  EXPECT_FALSE(controller_->HasRegistration());
}

}  // namespace
}  // namespace muster
