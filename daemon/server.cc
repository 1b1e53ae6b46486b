#include "daemon/server.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster {
namespace {

constexpr int kMessageBytesMax = 64 << 20;
constexpr int kKeepaliveMs = 20'000;
constexpr const char* kUnix = "unix:";

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TlsCredentials(const TlsFiles& tls) {
  if (tls.certificate.empty() || tls.key.empty() || tls.authority.empty()) {
    return absl::InvalidArgumentError(
        "--tls-cert, --tls-key and --tls-ca go together: give all three");
  }
  struct stat key {};
  if (stat(tls.key.c_str(), &key) == 0 && (key.st_mode & 077) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-key ", tls.key, ": others may read it; chmod 600 it"));
  }
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  ASSIGN_OR_RETURN(std::string certificate, ReadFile(tls.certificate));
  ASSIGN_OR_RETURN(std::string private_key, ReadFile(tls.key));
  ASSIGN_OR_RETURN(options.pem_root_certs, ReadFile(tls.authority));
  options.pem_key_cert_pairs.push_back({std::move(private_key), std::move(certificate)});
  return grpc::SslServerCredentials(options);
}

}  // namespace

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
  if (!IsLoopback(address) && !tls.given()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen ", address,
                     ": not on loopback, so it needs keys: give --tls-cert, --tls-key and ",
                     "--tls-ca (daemon/README.md shows how to make them), or listen on 127.0.0.1"));
  }
  return absl::OkStatus();
}

bool IsLoopback(const std::string& address) {
  return absl::StartsWith(address, "127.") || absl::StartsWith(address, "[::1]:") ||
         absl::StartsWith(address, "localhost:");
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const std::vector<std::string>& addresses,
                                                      const TlsFiles& tls,
                                                      const std::vector<grpc::Service*>& services,
                                                      std::vector<UniqueFd> passed) {
  std::unique_ptr<Server> server(new Server());
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
  int port = 0;
  for (const std::string& address : addresses) {
    RETURN_IF_ERROR(CheckAddress(address, tls));
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
    if (!absl::StartsWith(address, kUnix) && tls.given()) {
      ASSIGN_OR_RETURN(credentials, TlsCredentials(tls));
    }
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
      std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
      if (!absl::StartsWith(address, kUnix) && tls.given()) {
        ASSIGN_OR_RETURN(credentials, TlsCredentials(tls));
      }
      server->passed_->Add(std::move(socket), std::move(credentials), builder);
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
