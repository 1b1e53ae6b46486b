// Users by MUNGE (attacks A8, A9, B2): a munged of the test's own, and credentials that are shown
// where they should not be.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "scheduler/runtime/identity/certificate.h"
#include "scheduler/runtime/identity/munge.h"
#include "scheduler/runtime/mac.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/daemon/controller/secured_rig.h"

namespace muster::daemon::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kMunged = "/usr/sbin/munged";
constexpr const char* kPing = "/muster.wire.Controller/Ping";
constexpr const char* kChangePolicy = "/muster.wire.Controller/ChangePolicy";
constexpr uid_t kMallory = 61002;

class MungeDoorTest : public SecuredTest {
 protected:
  void SetUp() override {
    if (access(kMunged, X_OK) != 0) {
      GTEST_SKIP() << "SKIPPED: no munged here (apt-get install munge)";
    }
    SecuredTest::SetUp();
    ASSERT_EQ(chmod(directory_.c_str(), 0755), 0);
    StartMunged();
    munge_ = Munge::Load(socket_).value();
    fingerprint_ = FingerprintOf(ReadFile(tls_.certificate).value()).value();
  }
  void TearDown() override {
    if (munged_ > 0) {
      kill(munged_, SIGTERM);
      waitpid(munged_, nullptr, 0);
    }
    SecuredTest::TearDown();
  }

  std::string CredentialFor(const std::string& fingerprint, const std::string& method) const {
    return munge_->Encode(MungePayload(fingerprint, method, "nonce")).value();
  }
  // The credential of another user.
  std::string MallorysCredentialFor(const std::string& method) const {
    const pid_t child = fork();
    if (child == 0) {
      const bool other = setresgid(kMallory, kMallory, kMallory) == 0 &&
                         setresuid(kMallory, kMallory, kMallory) == 0;
      const std::string made = other ? CredentialFor(fingerprint_, method) : "";
      _exit(write(pipe_[1], made.data(), made.size()) == static_cast<ssize_t>(made.size()) ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    std::string made(65536, '\0');
    const ssize_t got = read(pipe_[0], made.data(), made.size());
    made.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return made;
  }

  // Calls Ping, or ChangePolicy, with these credentials, over one connection.
  grpc::Status Call(const std::vector<std::string>& credentials, const char* method = kPing) {
    if (channel_ == nullptr) {
      channel_ = Channel(std::nullopt);
    }
    const auto stub = wire::Controller::NewStub(channel_);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    for (const std::string& credential : credentials) {
      context.AddMetadata(kMungeMetadata, credential);
    }
    if (std::string(method) == kPing) {
      wire::PingReply reply;
      return stub->Ping(&context, wire::PingRequest(), &reply);
    }
    wire::ChangePolicyReply reply;
    wire::ChangePolicyRequest request;
    request.set_kind(wire::POLICY_KIND_QOS);
    request.set_name("mine");
    return stub->ChangePolicy(&context, request, &reply);
  }

  std::shared_ptr<const Munge> munge_;
  std::string fingerprint_;
  std::string socket_;

 private:
  void StartMunged() {
    const std::string place = directory_ + "/munge";
    ASSERT_EQ(mkdir(place.c_str(), 0755), 0);
    socket_ = place + "/socket";
    ASSERT_TRUE(WriteFileAtomically(place + "/key", RandomBytes(1024).value()).ok());
    ASSERT_EQ(pipe2(pipe_, O_CLOEXEC), 0);
    const UniqueFd log(open((place + "/out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    SpawnRequest request;
    request.program = kMunged;
    request.arguments = {"munged",
                         "--foreground",
                         "--force",
                         "--socket=" + socket_,
                         "--key-file=" + place + "/key",
                         "--pid-file=" + place + "/pid",
                         "--log-file=" + place + "/log",
                         "--seed-file=" + place + "/seed"};
    request.environment = {"PATH=/usr/bin:/bin"};
    request.fds = {{log.get(), STDOUT_FILENO}, {log.get(), STDERR_FILENO}};
    munged_ = Spawn(request).value();
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (access(socket_.c_str(), F_OK) != 0 && std::chrono::steady_clock::now() < until) {
      usleep(5'000);
    }
    ASSERT_EQ(access(socket_.c_str(), F_OK), 0) << ReadFile(place + "/out").value_or("");
  }

  pid_t munged_ = 0;
  int pipe_[2] = {-1, -1};
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(MungeDoorTest, ACredentialSaysWhoCallsOnce) {
  const std::string credential = CredentialFor(fingerprint_, kPing);
  const grpc::Status first = Call({credential});
  EXPECT_TRUE(first.ok()) << first.error_message();
  const grpc::Status again = Call({credential});
  EXPECT_EQ(again.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(again.error_message(), HasSubstr("eplayed"));
}

TEST_F(MungeDoorTest, ACredentialThatWasMadeForAnotherServerIsNotRelayed) {
  const CertifiedKey other = Issue({CertificateRole::kController, ""});
  const std::string theirs = FingerprintOf(other.certificate).value();
  const grpc::Status status = Call({CredentialFor(theirs, kPing)});
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(status.error_message(), HasSubstr("made for another server"));
}

TEST_F(MungeDoorTest, ACredentialForOneMethodIsNoneForAnother) {
  EXPECT_FALSE(Call({CredentialFor(fingerprint_, kPing)}, kChangePolicy).ok());
  EXPECT_FALSE(Call({CredentialFor(fingerprint_, "/muster.wire.Controller/PingX")}).ok());
  EXPECT_FALSE(Call({munge_->Encode("").value()}).ok());
  EXPECT_FALSE(Call({munge_->Encode(fingerprint_).value()}).ok());
}

TEST_F(MungeDoorTest, WhoOneCallWasSaysNothingOfTheNextOnTheConnection) {
  EXPECT_TRUE(Call({CredentialFor(fingerprint_, kPing)}).ok());
  EXPECT_EQ(Call({}).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_FALSE(Call({CredentialFor(fingerprint_, kPing), CredentialFor(fingerprint_, kPing)}).ok());
}

TEST_F(MungeDoorTest, AnotherUserOnAnOperatorsConnectionIsThatUser) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can become another user";
  }
  EXPECT_TRUE(Call({CredentialFor(fingerprint_, kChangePolicy)}, kChangePolicy).ok());
  const grpc::Status status = Call({MallorysCredentialFor(kChangePolicy)}, kChangePolicy);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(Logged(), HasSubstr("of user 61002 (uid 61002) by MUNGE from ipv4:127.0.0.1:"));
  EXPECT_TRUE(Call({MallorysCredentialFor(kPing)}).ok());
}

TEST_F(MungeDoorTest, RubbishIsNobodysCredential) {
  std::string flipped = CredentialFor(fingerprint_, kPing);
  flipped[flipped.size() / 2] = flipped[flipped.size() / 2] == 'A' ? 'B' : 'A';
  for (const std::string& credential : {std::string("MUNGE:"), std::string("MUNGE:AAAA:"),
                                        std::string("x"), std::string(4000, 'A'), flipped}) {
    EXPECT_EQ(Call({credential}).error_code(), grpc::StatusCode::UNAUTHENTICATED) << credential;
  }
}

TEST_F(MungeDoorTest, ACertificateIsNotOverruledByACredential) {
  const auto clients = wire::Controller::NewStub(Channel(Agent("n1")));
  grpc::ClientContext context;
  context.AddMetadata(kMungeMetadata, CredentialFor(fingerprint_, kPing));
  wire::PingReply reply;
  EXPECT_EQ(clients->Ping(&context, wire::PingRequest(), &reply).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

}  // namespace
}  // namespace muster::daemon::testing
