// The link over TCP with both ends' certificates checked, as `muster keys` makes them.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate_authority.h"
#include "tests/unit/agent/agent_process.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

const CertificateSubject kController{CertificateRole::kController, ""};
const CertificateSubject kOurs{CertificateRole::kAgent, "node1"};
const CertificateSubject kOthers{CertificateRole::kAgent, "node2"};

class TlsTest : public AgentProcessTest {
 protected:
  struct Authority {
    std::string certificate;
    CertificateAuthority signer;
  };
  static Authority MakeAuthority() {
    const CertifiedKey own =
        CertificateAuthority::Make(SystemClock().Now(), std::chrono::hours(48)).value();
    return {own.certificate, CertificateAuthority::From(own.certificate, own.key).value()};
  }
  static CertifiedKey Issue(const Authority& authority, const CertificateSubject& subject) {
    return authority.signer.Issue(subject, SystemClock().Now(), std::chrono::hours(24)).value();
  }
  // A controller that shows `own` and vouches for its orders with `voucher`.
  void Serve(const CertifiedKey& own, const std::string& voucher) {
    grpc::SslServerCredentialsOptions options(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = right_.certificate;
    options.pem_key_cert_pairs.push_back({own.key, own.certificate});
    controller_ =
        std::make_unique<TestController>("127.0.0.1:0", grpc::SslServerCredentials(options));
    controller_->VouchBy(SigningKey::FromPem(voucher).value());
  }
  void Serve(const CertifiedKey& own) { Serve(own, own.key); }
  void StartWith(const CertifiedKey& own, const std::string& trusted) {
    ASSERT_TRUE(WriteFileAtomically(temp_ / "agent.key", own.key).ok());
    ASSERT_TRUE(WriteFileAtomically(temp_ / "agent.pem", own.certificate).ok());
    ASSERT_TRUE(WriteFileAtomically(temp_ / "ca.pem", trusted).ok());
    StartAgent({{"--controller", absl::StrCat("127.0.0.1:", controller_->port())},
                {"--keys", temp_.path()},
                {"--min-uid", "0"}});
  }

  const Authority right_ = MakeAuthority();
  const Authority wrong_ = MakeAuthority();
};

TEST_F(TlsTest, AnAgentWithTheRightKeysIsTaken) {
  Serve(Issue(right_, kController));
  StartWith(Issue(right_, kOurs), right_.certificate);
  EXPECT_EQ(controller_->AwaitRegistration().name(), "node1");
  EXPECT_TRUE(Eventually([this] { return controller_->heartbeats() >= 1; }));
}

TEST_F(TlsTest, NeitherEndTalksToAStranger) {
  Serve(Issue(right_, kController));
  StartWith(Issue(wrong_, kOurs), right_.certificate);
  usleep(500'000);
  StopAgent(SIGTERM);
  StartWith(Issue(right_, kOurs), wrong_.certificate);
  usleep(500'000);
  EXPECT_FALSE(controller_->HasRegistration());
}

TEST_F(TlsTest, AnAgentsCertificateDoesNotMakeAController) {
  Serve(Issue(right_, kOthers));
  StartWith(Issue(right_, kOurs), right_.certificate);
  usleep(500'000);
  EXPECT_FALSE(controller_->HasRegistration());
}

TEST_F(TlsTest, OrdersOfAKeyForWhichTheCertificateDoesNotVouchAreNotTaken) {
  Serve(Issue(right_, kController), Issue(right_, kController).key);
  StartWith(Issue(right_, kOurs), right_.certificate);
  controller_->AwaitRegistration(std::uint64_t{1} << 62);
  EXPECT_TRUE(Eventually([this] { return HasLogged("is not vouched for"); }));
  EXPECT_EQ(controller_->heartbeats(), 0U);
  EXPECT_FALSE(ReadFile(state() + "/epoch").ok()) << "nor is its epoch remembered";
}

TEST_F(TlsTest, RootsAgentRunsNothingAsRootWhateverItWasTold) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: an ordinary user's agent becomes nobody";
  }
  Serve(Issue(right_, kController));
  StartWith(Issue(right_, kOurs), right_.certificate);  // with --min-uid 0
  controller_->AwaitRegistration();
  controller_->Launch(Order(1, "short"));
  const RunEnded ended = controller_->AwaitEnd();
  EXPECT_EQ(ended.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(ended.text, HasSubstr("no jobs of root"));
  EXPECT_EQ(Starts(), 0U);
}

TEST_F(TlsTest, KeysAreForTcp) {
  const CertifiedKey own = Issue(right_, kOurs);
  ASSERT_TRUE(WriteFileAtomically(temp_ / "agent.key", own.key).ok());
  ASSERT_TRUE(WriteFileAtomically(temp_ / "agent.pem", own.certificate).ok());
  ASSERT_TRUE(WriteFileAtomically(temp_ / "ca.pem", right_.certificate).ok());
  StartAgent({{"--keys", temp_.path()}});
  EXPECT_EQ(WEXITSTATUS(AwaitAgentExit()), 2);
  EXPECT_TRUE(HasLogged("give HOST:PORT"));
}

TEST_F(TlsTest, KeysThatAreNotThereAreToldWithTheWayToMakeThem) {
  StartAgent({{"--controller", "127.0.0.1:7117"}, {"--keys", temp_ / "none"}});
  EXPECT_EQ(WEXITSTATUS(AwaitAgentExit()), 1);
  EXPECT_TRUE(HasLogged("muster keys agent node1"));
}

}  // namespace
}  // namespace muster::agent
