#include "daemon/access/gate.h"

#include <grpc/grpc_security_constants.h>

#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/access/local_context.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/identity/certificate.h"

namespace muster::daemon {
namespace {

constexpr std::string_view kCertificate = "certificate ";

std::string PropertyOf(const grpc::AuthContext& context, const char* name) {
  const std::vector<grpc::string_ref> values = context.FindPropertyValues(name);
  return values.size() == 1 ? std::string(values.front().data(), values.front().size()) : "";
}

// Whose connections are counted together: an agent's are those of its certificate.
std::string ConnectionsOf(const Caller& caller) {
  const bool by_proof = caller.role == Role::kAgent || caller.role == Role::kController;
  return by_proof ? caller.proof : absl::StrCat("uid ", caller.user.uid);
}

}  // namespace

Transport Gate::TransportOf(const grpc::CallbackServerContext& context) const {
  Transport transport;
  if (dynamic_cast<const LocalContext*>(&context) != nullptr) {
    transport.peer = "unix:";
    return transport;
  }
  transport.peer = context.peer();
  JudgeToken(context, transport);
  const auto auth = context.auth_context();
  if (auth == nullptr) {
    return transport;
  }
  const std::string kind = PropertyOf(*auth, GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  transport.tls =
      kind == GRPC_TLS_TRANSPORT_SECURITY_TYPE || kind == GRPC_SSL_TRANSPORT_SECURITY_TYPE;
  transport.tokens_only = kind == kTokensOnlyTransport;
  transport.certificate = PropertyOf(*auth, GRPC_X509_PEM_CERT_PROPERTY_NAME);
  const auto credential = context.client_metadata().find(kMungeMetadata);
  if (!transport.tls || munge_ == nullptr || credential == context.client_metadata().end()) {
    return transport;
  }
  const MungeAuthenticator::Judged judged =
      munge_->Take(std::string(credential->second.data(), credential->second.size()));
  if (judged.status.ok()) {
    transport.munge = judged.uid;
  } else {
    transport.munge_refusal = std::string(judged.status.message());
  }
  return transport;
}

void Gate::JudgeToken(const grpc::CallbackServerContext& context, Transport& transport) const {
  const auto [begin, end] = context.client_metadata().equal_range(kTokenMetadata);
  transport.shows_token = begin != end;
  if (!transport.shows_token) {
    return;
  }
  if (tokens_ == nullptr || std::next(begin) != end) {
    transport.token_refusal =
        tokens_ == nullptr ? "this controller takes no tokens" : "a call with two tokens";
    return;
  }
  absl::StatusOr<TokenGrant> grant = tokens_->Judge({begin->second.data(), begin->second.size()});
  if (grant.ok()) {
    transport.token = *std::move(grant);
  } else {
    transport.token_refusal = std::string(grant.status().message());
  }
}

// Each is read once for that: a call costs a look into a set.
void Gate::Remember(const Transport& transport, const Caller& caller) const {
  const bool by_certificate = caller.proof.compare(0, kCertificate.size(), kCertificate) == 0;
  if (!by_certificate || certificates_.Knows(caller.proof.substr(kCertificate.size()))) {
    return;
  }
  if (const absl::StatusOr<CertificateFacts> facts = ReadCertificate(transport.certificate);
      facts.ok()) {
    certificates_.Note(*facts);
  }
}

absl::StatusOr<Caller> Gate::Admit(const grpc::CallbackServerContext& context,
                                   std::string_view method) const {
  const Transport transport = TransportOf(context);
  static const auto kNone = std::make_shared<const std::string>();
  const absl::StatusOr<std::shared_ptr<const std::string>> revoked =
      transport.certificate.empty() ? kNone : revoked_.Now();
  absl::StatusOr<Caller> caller =
      revoked.ok() ? Identify(transport, **revoked)
                   : absl::PermissionDeniedError(absl::StrCat(
                         "caller ", transport.peer, ": ", std::string(revoked.status().message())));
  if (!caller.ok()) {
    log_.Warning("access", absl::StrCat("refused ", std::string(method), ": ",
                                        std::string(caller.status().message())));
    return caller;
  }
  if (acceptor_ != nullptr && !acceptor_->Know(transport.peer, ConnectionsOf(*caller))) {
    return absl::ResourceExhaustedError(absl::StrCat(
        caller->user.name, " has too many connections to the controller: close some of them"));
  }
  Remember(transport, *caller);
  caller->powers = PowersOf(*caller);
  if (caller->powers.operates && transport.token.has_value() && !transport.token->may_operate) {
    const absl::Status refused = absl::PermissionDeniedError(
        absl::StrCat(caller->user.name, " is an operator, for whom ",
                     "[oidc] lets no token of this site's issuer speak; "
                     "make one: muster token"));
    Note(*caller, method, refused);
    return refused;
  }
  if (const absl::Status may = MayCall(*caller, method); !may.ok()) {
    Note(*caller, method, may);
    return may;
  }
  if (budget_ != nullptr) {
    RETURN_IF_ERROR(budget_->TakeCall(caller->user));
  }
  return caller;
}

absl::Status Gate::MaySubmit(const Caller& caller) const {
  if (caller.user.uid >= min_uid_ || min_uid_ == 0) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      absl::StrCat("jobs of ", caller.user.name, " (uid ", caller.user.uid,
                   ") are not run here: submit as an ordinary user (uid ", min_uid_,
                   " or above; musterd --min-uid)"));
}

absl::Status Gate::Spend(const Caller& caller, std::size_t bytes) const {
  return budget_ == nullptr ? absl::OkStatus() : budget_->TakeBytes(caller.user, bytes);
}

Powers Gate::PowersOf(const Caller& caller) const {
  const bool of_nobody = caller.role == Role::kAgent || caller.role == Role::kController;
  return rules_ == nullptr || of_nobody ? Powers() : rules_->Of(caller.user);
}

absl::Status Gate::StillGood(const Caller& caller) const {
  if (PowersOf(caller) != caller.powers) {
    return absl::PermissionDeniedError(
        absl::StrCat("what ", caller.user.name, " may do and see was changed; call again"));
  }
  constexpr std::string_view kToken = "token ";
  if (tokens_ != nullptr && caller.proof.compare(0, kToken.size(), kToken) == 0) {
    return tokens_->StillGood(caller.proof.substr(kToken.size()));
  }
  CertificateFacts facts;
  if (caller.proof.compare(0, kCertificate.size(), kCertificate) != 0) {
    return absl::OkStatus();
  }
  facts.serial = caller.proof.substr(kCertificate.size());
  ASSIGN_OR_RETURN(const std::shared_ptr<const std::string> revoked, revoked_.Now());
  if (!IsRevoked(*revoked, facts)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(caller.proof, " has been revoked"));
}

void Gate::Note(const Caller& caller, std::string_view method, const absl::Status& status) const {
  if (absl::IsPermissionDenied(status)) {
    log_.Warning("access", absl::StrCat("refused ", std::string(method), " of ", ToText(caller),
                                        ": ", std::string(status.message())));
  }
}

}  // namespace muster::daemon
