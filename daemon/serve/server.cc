#include "daemon/serve/server.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/access/access.h"
#include "daemon/door/listening_socket.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"
#include "scheduler/runtime/identity/certificate_authority.h"
#include "scheduler/runtime/identity/private_file.h"
#include "scheduler/runtime/process.h"

namespace muster::daemon {
namespace {

constexpr int kMessageBytesMax = 16 << 20;  // as agents may send; it is read only of who is known
constexpr int kStreamsMax = 128;
constexpr int kMetadataBytesMax = 16 << 10;  // a MUNGE credential and gRPC's own
// Less than a stranger may send: who is known when the headers are read has not sent too much yet.
constexpr int kWindowBytes = 32 << 10;
constexpr int kHandshakeMs = 10'000;
constexpr int kIdleMs = 600'000;  // without a call; an agent always has one
constexpr int kKeepaliveMs = 20'000;
constexpr std::size_t kCallBytesMax = 512 << 20;  // of calls that are being read, all together

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

// What `status` says of the keys, and what to do when there are none yet.
absl::Status WithMend(const TlsFiles& tls, const absl::Status& status) {
  if (!absl::IsNotFound(status)) {
    return status;
  }
  const std::string directory = tls.key.substr(0, tls.key.rfind('/'));
  return absl::NotFoundError(absl::StrCat(std::string(status.message()), "; make keys, as ",
                                          UserOf(geteuid()).name, ": muster keys init --keys ",
                                          directory));
}

// REQUIRES: CheckAddress() took the address with these files.
std::shared_ptr<grpc::ServerCredentials> CredentialsFor(
    const std::string& address, const TlsFiles& tls,
    const std::shared_ptr<grpc::AuthMetadataProcessor>& processor) {
  return IsUnix(address) || !tls.given() ? grpc::InsecureServerCredentials()
                                         : TlsCredentials(tls, processor);
}

}  // namespace

absl::StatusOr<std::string> CheckTlsFiles(const TlsFiles& tls) {
  if (tls.certificate.empty() || tls.key.empty() || tls.authority.empty()) {
    return absl::InvalidArgumentError(
        "--tls-cert, --tls-key and --tls-ca go together: give all three, or --keys DIR");
  }
  const absl::StatusOr<std::string> key_text = ReadPrivateFile(tls.key);
  RETURN_IF_ERROR(WithMend(tls, key_text.status()));
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
  if (!CertificateAuthority::From(certificate, *key_text).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-key ", tls.key, ": not the key of the certificate ", tls.certificate));
  }
  return ExpiryWarning(*facts, SystemClock().Now());
}

absl::Status CheckAddress(const std::string& address, const TlsFiles& tls) {
  if (IsUnix(address)) {
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
  return absl::InvalidArgumentError(absl::StrCat(
      "--listen ", address, ": TCP needs keys: make them by muster keys init --keys DIR and give ",
      "--keys DIR (or --tls-cert, --tls-key and --tls-ca); without keys there is unix:PATH alone"));
}

absl::Status CheckAddresses(const std::vector<std::string>& addresses, const TlsFiles& tls) {
  for (const std::string& address : addresses) {
    RETURN_IF_ERROR(CheckAddress(address, tls));
  }
  return absl::OkStatus();
}

namespace {

void Limit(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMessageBytesMax);
  for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  }
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kWindowBytes);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
  grpc::ResourceQuota quota("musterd");
  quota.Resize(kCallBytesMax);
  builder.SetResourceQuota(quota);
}

}  // namespace

void Server::Open(grpc::ServerBuilder& builder, UniqueFd listening, const std::string& address,
                  const TlsFiles& tls,
                  const std::shared_ptr<grpc::AuthMetadataProcessor>& processor) {
  doors_.push_back(builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      CredentialsFor(address, tls, processor)));
  addresses_.push_back(IsUnix(address) ? address : AddressOfPassed(listening).value_or(address));
  TakeFrom(std::move(listening),
           IsUnix(address) ? Acceptor::Kind::kUnix
           : tls.given()   ? Acceptor::Kind::kTls
                           : Acceptor::Kind::kPlain,
           IsUnix(address) ? frames_ : nullptr);
}

// Gives the connections of the socket to the last of the doors, but for those that are frames'.
void Server::TakeFrom(UniqueFd listening, Acceptor::Kind kind, FramedDoor* frames) {
  const auto to_grpc = [door = doors_.back().get()](UniqueFd caller) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters taken;
    taken.fd = caller.release();
    door->HandleNewConnection(&taken);
  };
  if (frames == nullptr) {
    acceptor_.Add(std::move(listening), kind, to_grpc);
    return;
  }
  acceptor_.Add(std::move(listening), kind,
                [frames, to_grpc](UniqueFd caller) { frames->Take(std::move(caller), to_grpc); });
}

// gRPC marks its calls as "local", by which the gate knows them (kTokensOnlyTransport).
absl::Status Server::OpenGateway(grpc::ServerBuilder& builder, const std::string& address) {
  if (!IsUnix(address)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--gateway-socket ", address, ": write unix:PATH"));
  }
  RETURN_IF_ERROR(CheckAddress(address, TlsFiles()));
  ASSIGN_OR_RETURN(std::vector<UniqueFd> sockets, ListenOn(address));
  sockets_.push_back(address.substr(5));
  for (UniqueFd& socket : sockets) {
    doors_.push_back(builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        grpc::experimental::LocalServerCredentials(UDS)));
    TakeFrom(std::move(socket), Acceptor::Kind::kUnix, nullptr);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(Acceptor& acceptor, Setting setting) {
  const TlsFiles& tls = setting.tls;
  std::unique_ptr<Server> server(new Server(acceptor, setting.frames));
  if (tls.given()) {
    HideMemory();  // our key is in it
    ASSIGN_OR_RETURN(server->warning_, CheckTlsFiles(tls));
  }
  // gRPC waits at its end for threads that it could not make; so it does not end before we do.
  grpc_init();
  grpc::ServerBuilder builder;
  Limit(builder);
  for (const std::string& address : setting.addresses) {
    RETURN_IF_ERROR(CheckAddress(address, tls));
    ASSIGN_OR_RETURN(std::vector<UniqueFd> sockets, ListenOn(address));
    if (IsUnix(address)) {
      server->sockets_.push_back(address.substr(5));
    }
    for (UniqueFd& socket : sockets) {
      server->port_ = std::max(server->port_, PortOf(socket));
      server->Open(builder, std::move(socket), address, tls, setting.processor);
    }
  }
  for (UniqueFd& socket : setting.passed) {
    ASSIGN_OR_RETURN(const std::string address, AddressOfPassed(socket));
    RETURN_IF_ERROR(CheckAddress(address, tls));
    server->Open(builder, std::move(socket), address, tls, setting.processor);
  }
  if (!setting.gateway.empty()) {
    RETURN_IF_ERROR(server->OpenGateway(builder, setting.gateway));
  }
  for (grpc::Service* service : setting.services) {
    builder.RegisterService(service);
  }
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr) {
    return absl::UnavailableError("cannot serve: gRPC does not start");
  }
  RETURN_IF_ERROR(server->acceptor_.Start());
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
    acceptor_.Stop();
    if (frames_ != nullptr) {
      frames_->Stop();
    }
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
    server_->Wait();
    server_.reset();
    for (const std::string& path : sockets_) {
      unlink(path.c_str());
    }
  }
}

std::string AdvertisedOf(const Server& server, const std::string& host) {
  std::string all;
  for (const std::string& address : server.addresses()) {
    const std::size_t colon = address.rfind(':');
    const std::string named = address.substr(0, colon);
    const bool any = named == "0.0.0.0" || named == "[::]";
    const std::string port =
        address.substr(colon) == ":0" ? absl::StrCat(":", server.port()) : address.substr(colon);
    absl::StrAppend(&all, all.empty() ? "" : ",", any ? host : named, port);
  }
  return all;
}

}  // namespace muster::daemon
