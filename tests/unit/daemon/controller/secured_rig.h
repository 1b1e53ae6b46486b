#pragma once

// A controller that serves over TLS in this process, and callers of it with any certificate.
//
// Thread promise: for the test's thread. Invariants: the directory goes with the test; the server
// ends before what it serves.

#include <fcntl.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "daemon/agents/agent_sessions.h"
#include "daemon/client/client_service.h"
#include "daemon/leading/leadership_service.h"
#include "daemon/serve/server.h"
#include "proto/convert/job.h"
#include "proto/convert/node.h"
#include "proto/convert/view.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate_authority.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon::testing {

class SecuredTest : public ::testing::Test {
 protected:
  static constexpr std::chrono::hours kDay{24};

  explicit SecuredTest(uid_t min_uid = 0) : min_uid_(min_uid) {}

  void SetUp() override {
    std::string path = "/tmp/muster-secured.XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    directory_ = path;
    const CertifiedKey own = Issue({CertificateRole::kController, ""});
    ASSERT_TRUE(
        WriteFileAtomically(tls_.certificate = directory_ + "/c.pem", own.certificate).ok());
    ASSERT_TRUE(WriteFileAtomically(tls_.key = directory_ + "/c.key", own.key).ok());
    ASSERT_TRUE(WriteFileAtomically(tls_.authority = directory_ + "/ca.pem", trusted_).ok());
    tls_.revoked = directory_ + "/revoked";
    Serve();
  }
  void TearDown() override {
    server_.reset();
    clients_.reset();
    agents_.reset();
    controller_.reset();
    std::filesystem::remove_all(directory_);
  }

  // What a caller shows; nothing: no certificate.
  struct Caller {
    std::string name;
    std::optional<CertifiedKey> key;
  };

  CertifiedKey Issue(const CertificateSubject& subject) const {
    return authority_.Issue(subject, now_, kDay).value();
  }
  CertifiedKey Agent(const std::string& node) const {
    return Issue({CertificateRole::kAgent, node});
  }
  // Of the user who runs this test, who is the controller's operator.
  CertifiedKey Self() const { return Issue({CertificateRole::kClient, UserOf(geteuid()).name}); }

  std::shared_ptr<grpc::Channel> Channel(const std::optional<CertifiedKey>& key) const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = trusted_;
    if (key.has_value()) {
      options.pem_cert_chain = key->certificate;
      options.pem_private_key = key->key;
    }
    return ChannelOver(grpc::SslCredentials(options));
  }
  std::shared_ptr<grpc::Channel> ChannelOver(
      const std::shared_ptr<grpc::ChannelCredentials>& credentials) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    arguments.SetString(GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, kControllerName);
    return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", server_->port()), credentials,
                                     arguments);
  }

  // An agent's stream.
  struct Stream {
    explicit Stream(const std::shared_ptr<grpc::Channel>& channel)
        : stub(wire::AgentLink::NewStub(channel)), stream(stub->Attach(&context)) {}
    ~Stream() {
      context.TryCancel();
      wire::ControllerMessage message;
      while (stream->Read(&message)) {
      }
      stream->Finish();
    }
    // The answer to a registration of that name.
    wire::ControllerMessage Register(const std::string& name, Time time,
                                     std::vector<KnownAttempt> attempts = {}) {
      wire::AgentMessage message;
      Registration registration;
      registration.name = name;
      registration.instance = "instance of " + name;
      registration.boot_id = "boot";
      registration.machine = SmallMachine();
      registration.attempts = std::move(attempts);
      ToWire(registration, message.mutable_registration());
      message.set_challenge(std::string(32, 'c'));
      message.set_time(time.time_since_epoch().count());
      stream->Write(message);
      wire::ControllerMessage answer;
      stream->Read(&answer);
      return answer;
    }
    // Returns when everything that was written before has been judged.
    void AwaitTurn() {
      wire::AgentMessage message;
      ToWire(Report{JobId(4242), AttemptNumber(1), 1, RunEnded()}, message.mutable_report());
      EXPECT_TRUE(stream->Write(message));
      wire::ControllerMessage answer;
      while (stream->Read(&answer) && !answer.has_ack()) {
      }
    }
    grpc::ClientContext context;
    std::unique_ptr<wire::AgentLink::Stub> stub;
    std::unique_ptr<grpc::ClientReaderWriter<wire::AgentMessage, wire::ControllerMessage>> stream;
  };

  // Calls any method with an empty message, be it a stream or not; how the call ended.
  static grpc::Status CallEmpty(const std::shared_ptr<grpc::Channel>& channel,
                                const std::string& method) {
    grpc::GenericStub stub(channel);
    grpc::CompletionQueue queue;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    const auto call = stub.PrepareCall(&context, method, &queue);
    grpc::ByteBuffer answer;
    grpc::Status status;
    const auto next = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    call->StartCall(nullptr);
    next();
    const grpc::Slice nothing;
    call->WriteLast(grpc::ByteBuffer(&nothing, 1), grpc::WriteOptions(), nullptr);
    next();
    do {
      call->Read(&answer, nullptr);
    } while (next());
    call->Finish(&status, nullptr);
    next();
    queue.Shutdown();
    while (next()) {
    }
    return status;
  }
  static bool IsRefusal(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::PERMISSION_DENIED ||
           status.error_code() == grpc::StatusCode::UNAUTHENTICATED;
  }

  std::vector<JobView> Jobs() const {
    const auto stub = wire::Controller::NewStub(Channel(Self()));
    grpc::ClientContext context;
    wire::ListJobsReply reply;
    EXPECT_TRUE(stub->ListJobs(&context, wire::ListJobsRequest(), &reply).ok());
    std::vector<JobView> views(static_cast<std::size_t>(reply.jobs_size()));
    for (std::size_t i = 0; i < views.size(); ++i) {
      EXPECT_TRUE(FromWire(reply.jobs(static_cast<int>(i)), &views[i]).ok());
    }
    return views;
  }

  // What the controller has logged so far.
  std::string Logged() const { return ReadFile(directory_ + "/log").value(); }

  const SystemClock clock_;
  const Time now_ = clock_.Now();
  const CertifiedKey own_ = CertificateAuthority::Make(now_ - 4 * kDay, 8 * kDay).value();
  const CertificateAuthority authority_ =
      CertificateAuthority::From(own_.certificate, own_.key).value();
  const std::string trusted_ = own_.certificate;
  std::string directory_;
  TlsFiles tls_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<TokenStore> tokens_;

 private:
  void Serve() {
    log_fd_.reset(
        open((directory_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    log_ = std::make_unique<Logger>(clock_, log_fd_.get(), LogLevel::kInfo, false);
    store_ = JobStore::Open(directory_).value();
    accounting_ = Accounting::Open(*store_).value();
    signer_ = OrderSigner::Open(directory_ + "/order.key", tls_.key).value();
    acceptor_ = std::make_unique<Acceptor>(*log_, clock_);
    handshakes_ = std::make_unique<HandshakeLog>(*log_, clock_, acceptor_.get());
    tokens_ = TokenStore::Open(directory_, "test", clock_).value();
    door_ = MungeAuthenticator::Open(directory_ + "/munge/socket", tls_.certificate, *log_,
                                     handshakes_.get(), tokens_.get());
    gate_ = std::make_unique<Gate>(*log_, tls_.revoked, door_.get(), min_uid_, acceptor_.get(),
                                   nullptr, tokens_.get());
    sessions_ = std::make_unique<AgentSessions>(*log_);
    SchedulerConfig policy;
    policy.operator_uid = geteuid();
    controller_ = std::make_unique<Controller>(*store_, *sessions_, clock_, *log_,
                                               Controller::Setting{policy, "test", {}});
    ASSERT_TRUE(controller_->Start().ok());
    agents_ = std::make_unique<AgentService>(
        *controller_, *sessions_, AgentService::Setting{"test", clock_, *gate_, *signer_, usage_});
    clients_ = std::make_unique<ClientService>(
        *controller_, *accounting_, *store_,
        ClientService::Setting{"test", *gate_, usage_, tokens_.get()});
    leadership_ = std::make_unique<LeadershipService>(*controller_, *gate_, "test");
    auto server = Server::Start(*acceptor_, {{"127.0.0.1:0"},
                                             tls_,
                                             {agents_.get(), clients_.get(), leadership_.get()},
                                             {},
                                             door_,
                                             "unix:" + directory_ + "/gateway.sock"});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  const uid_t min_uid_;
  UniqueFd log_fd_;
  std::unique_ptr<Logger> log_;
  std::unique_ptr<JobStore> store_;
  std::unique_ptr<Accounting> accounting_;
  std::unique_ptr<OrderSigner> signer_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<HandshakeLog> handshakes_;
  std::shared_ptr<MungeAuthenticator> door_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<AgentSessions> sessions_;
  std::unique_ptr<Controller> controller_;
  LiveUsage usage_;
  std::unique_ptr<AgentService> agents_;
  std::unique_ptr<LeadershipService> leadership_;
  std::unique_ptr<ClientService> clients_;
};

}  // namespace muster::daemon::testing
