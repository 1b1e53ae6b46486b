#include "cli/controller/channel.h"

#include <arpa/inet.h>
#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/credentials.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"
#include "scheduler/runtime/identity/munge.h"
#include "scheduler/runtime/identity/private_file.h"
#include "scheduler/runtime/mac.h"

namespace muster::cli {
namespace {

constexpr int kReplyBytesMax = 256 << 20;
constexpr std::size_t kNonceBytes = 16;

// "ipv4:" and "ipv6:" spare gRPC the name resolution; any other host goes through it.
std::string GrpcTarget(const Address& address) {
  if (address.kind == Address::Kind::kUnix) {
    return "unix:" + address.path;
  }
  if (address.host.find(':') != std::string::npos) {
    return absl::StrCat("ipv6:[", address.host, "]:", address.port);
  }
  in_addr four = {};
  const std::string host = address.host == "localhost" ? "127.0.0.1" : address.host;
  return inet_pton(AF_INET, host.c_str(), &four) == 1
             ? absl::StrCat("ipv4:", host, ":", address.port)
             : absl::StrCat("dns:///", host, ":", address.port);
}

// Makes a credential for each call.
class MungeCaller final : public grpc::MetadataCredentialsPlugin {
 public:
  explicit MungeCaller(std::shared_ptr<const Munge> munge) : munge_(std::move(munge)) {}
  [[nodiscard]] bool IsBlocking() const override { return true; }
  [[nodiscard]] const char* GetType() const override { return "muster-munge"; }

  grpc::Status GetMetadata(grpc::string_ref service_url, grpc::string_ref method,
                           const grpc::AuthContext& channel,
                           std::multimap<grpc::string, grpc::string>* metadata) override {
    const std::vector<grpc::string_ref> values =
        channel.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
    const absl::StatusOr<std::string> server =
        values.empty() ? absl::FailedPreconditionError("the controller showed no certificate")
                       : FingerprintOf({values.front().data(), values.front().size()});
    const absl::StatusOr<std::string> nonce = RandomBytes(kNonceBytes);
    if (!server.ok() || !nonce.ok()) {
      return Failed(server.ok() ? nonce.status() : server.status());
    }
    // "https://HOST/muster.wire.Controller"
    const std::string url(service_url.data(), service_url.size());
    const std::string path =
        absl::StrCat(url.substr(url.rfind('/')), "/", std::string(method.data(), method.size()));
    const absl::StatusOr<std::string> credential =
        munge_->Encode(MungePayload(*server, path, absl::BytesToHexString(*nonce)));
    if (!credential.ok()) {
      return Failed(credential.status());
    }
    metadata->emplace(kMungeMetadata, *credential);
    return grpc::Status::OK;
  }

 private:
  static grpc::Status Failed(const absl::Status& status) {
    return {grpc::StatusCode::UNAUTHENTICATED, std::string(status.message())};
  }
  const std::shared_ptr<const Munge> munge_;
};

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsFor(const Address& address) {
  const ClientKeys& keys = address.keys;
  if (address.kind == Address::Kind::kUnix) {
    return grpc::InsecureChannelCredentials();
  }
  if (keys.authority.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(address.text, ": nothing says whom to trust there: set MUSTER_KEYS"));
  }
  grpc::SslCredentialsOptions options;
  ASSIGN_OR_RETURN(options.pem_root_certs, ReadFile(keys.authority));
  if (!keys.certificate.empty()) {
    ASSIGN_OR_RETURN(options.pem_cert_chain, ReadFile(keys.certificate));
    ASSIGN_OR_RETURN(options.pem_private_key, ReadPrivateFile(keys.key));
    return grpc::SslCredentials(options);
  }
  absl::StatusOr<std::shared_ptr<const Munge>> munge = Munge::Load(keys.munge_socket);
  if (!munge.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(std::string(munge.status().message()),
                     ", or set MUSTER_KEYS to where your key is (muster keys client)"));
  }
  return grpc::CompositeChannelCredentials(
      grpc::SslCredentials(options),
      grpc::MetadataCredentialsFromPlugin(std::make_unique<MungeCaller>(*std::move(munge))));
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(const Address& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 300);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  arguments.SetMaxReceiveMessageSize(kReplyBytesMax);
  if (address.kind == Address::Kind::kTcp) {
    // Whatever its address: only a controller's certificate has this name.
    arguments.SetString(GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, kControllerName);
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ChannelCredentials> credentials,
                   CredentialsFor(address));
  return grpc::CreateCustomChannel(GrpcTarget(address), credentials, arguments);
}

absl::Status Refusal(const grpc::Status& status) {
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  const std::string message = status.error_message();
  return absl::Status(
      code == absl::StatusCode::kInvalidArgument ? absl::StatusCode::kFailedPrecondition : code,
      message.empty() ? absl::StrCat("the controller refused (code ", status.error_code(), ")")
                      : message.substr(0, message.find('\n')));
}

}  // namespace muster::cli
