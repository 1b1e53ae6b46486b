#include "daemon/server.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/certificate.h"
#include "scheduler/runtime/certificate_authority.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/private_file.h"

namespace muster {
namespace {

constexpr int kMessageBytesMax = 64 << 20;
constexpr int kKeepaliveMs = 20'000;
constexpr const char* kUnix = "unix:";

constexpr unsigned kLookAgainSeconds = 2;

// From files that CheckTlsFiles() took. Callers may come without a certificate: then MUNGE has to
// say who they are. One that is shown must be good.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    const TlsFiles& tls, const std::shared_ptr<grpc::AuthMetadataProcessor>& processor) {
  namespace experimental = grpc::experimental;
  experimental::TlsServerCredentialsOptions options(
      std::make_shared<experimental::FileWatcherCertificateProvider>(
          tls.key, tls.certificate, tls.authority, kLookAgainSeconds));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  std::shared_ptr<grpc::ServerCredentials> credentials =
      experimental::TlsServerCredentials(options);
  if (processor != nullptr) {
    credentials->SetAuthMetadataProcessor(processor);
  }
  return credentials;
}

}  // namespace

namespace {

// REQUIRES: CheckAddress() took the address with these files.
std::shared_ptr<grpc::ServerCredentials> CredentialsFor(
    const std::string& address, const TlsFiles& tls,
    const std::shared_ptr<grpc::AuthMetadataProcessor>& processor) {
  return absl::StartsWith(address, kUnix) || !tls.given() ? grpc::InsecureServerCredentials()
                                                          : TlsCredentials(tls, processor);
}

}  // namespace

absl::StatusOr<std::string> CheckTlsFiles(const TlsFiles& tls) {
  if (tls.certificate.empty() || tls.key.empty() || tls.authority.empty()) {
    return absl::InvalidArgumentError(
        "--tls-cert, --tls-key and --tls-ca go together: give all three, or --keys DIR");
  }
  ASSIGN_OR_RETURN(const std::string key_text, ReadPrivateFile(tls.key));
  ASSIGN_OR_RETURN(const std::string certificate, ReadFile(tls.certificate));
  RETURN_IF_ERROR(ReadFile(tls.authority).status());
  const absl::StatusOr<CertificateFacts> facts = ReadCertificate(certificate);
  if (!facts.ok() || facts->subject.role != CertificateRole::kController) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-cert ", tls.certificate, ": ",
                     facts.ok() ? absl::StrCat("the certificate of ", ToText(facts->subject),
                                               "; the controller needs its own: muster keys init")
                                : std::string(facts.status().message())));
  }
  if (!CertificateAuthority::From(certificate, key_text).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-key ", tls.key, ": not the key of the certificate ", tls.certificate));
  }
  return ExpiryWarning(*facts, SystemClock().Now());
}

absl::Status CheckAddress(const std::string& address, const TlsFiles& tls) {
  if (absl::StartsWith(address, kUnix)) {
    const std::string path = address.substr(5);
    if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path)) {
      return absl::InvalidArgumentError(absl::StrCat(address, ": the path of a socket has 1 to ",
                                                     sizeof(sockaddr_un::sun_path) - 1,
                                                     " bytes; use a shorter --state"));
    }
    return absl::OkStatus();
  }
  if (address.rfind(':') == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen ", address, ": write unix:PATH or HOST:PORT"));
  }
  if (tls.given()) {
    return CheckTlsFiles(tls).status();
  }
  if (!IsLoopback(address)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--listen ", address, ": not on loopback, so it needs keys: give --keys DIR (muster keys ",
        "init makes them), or --tls-cert, --tls-key and --tls-ca; or listen on 127.0.0.1"));
  }
  return absl::OkStatus();
}

bool IsLoopback(const std::string& address) {
  return absl::StartsWith(address, "127.") || absl::StartsWith(address, "[::1]:") ||
         absl::StartsWith(address, "localhost:");
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    const std::vector<std::string>& addresses, const TlsFiles& tls,
    const std::vector<grpc::Service*>& services, std::vector<UniqueFd> passed,
    const std::shared_ptr<grpc::AuthMetadataProcessor>& processor) {
  std::unique_ptr<Server> server(new Server());
  if (tls.given()) {
    ASSIGN_OR_RETURN(server->warning_, CheckTlsFiles(tls));
  }
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
  int port = 0;
  for (const std::string& address : addresses) {
    RETURN_IF_ERROR(CheckAddress(address, tls));
    const auto credentials = CredentialsFor(address, tls, processor);
    if (absl::StartsWith(address, kUnix)) {
      // A controller that was killed leaves its socket; the store's lock says that it is gone.
      unlink(address.substr(5).c_str());
      server->sockets_.push_back(address.substr(5));
      builder.AddListeningPort(address, credentials);
    } else {
      builder.AddListeningPort(address, credentials, &port);
    }
  }
  if (!passed.empty()) {
    server->passed_ = std::make_unique<PassedSockets>();
    for (UniqueFd& socket : passed) {
      ASSIGN_OR_RETURN(const std::string address, AddressOfPassed(socket));
      RETURN_IF_ERROR(CheckAddress(address, tls));
      server->passed_->Add(std::move(socket), CredentialsFor(address, tls, processor), builder);
    }
  }
  for (grpc::Service* service : services) {
    builder.RegisterService(service);
  }
  const mode_t mask = umask(0177);
  server->server_ = builder.BuildAndStart();
  umask(mask);
  if (server->server_ == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", addresses.empty() ? "passed sockets" : addresses.back(),
                     ": the address is taken or not ours"));
  }
  if (server->passed_ != nullptr) {
    server->passed_->Start();
  }
  server->port_ = port;
  return server;
}

void Server::Tell(const Logger& log) const {
  if (!warning_.empty()) {
    log.Warning("access", warning_);
  }
  if (port_ != 0) {
    log.Info("musterd", absl::StrCat("port ", port_));
  }
}

Server::~Server() {
  Stop();
}

void Server::Stop() {
  if (server_ != nullptr) {
    if (passed_ != nullptr) {
      passed_->Stop();  // who calls from now on is served by the next controller
    }
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
    server_->Wait();
    server_.reset();
    for (const std::string& path : sockets_) {
      unlink(path.c_str());
    }
  }
}

}  // namespace muster
