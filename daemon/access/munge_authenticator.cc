#include "daemon/access/munge_authenticator.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"

namespace muster::daemon {
namespace {

constexpr const char* kNothingShown =
    "no certificate and no MUNGE credential; run munged on both machines, or use a key that muster "
    "keys client made";

// gRPC processes a call on the thread that asked whether that blocks, when it does not.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): it tells nothing else of it
thread_local bool processed_here = false;

}  // namespace

std::shared_ptr<MungeAuthenticator> MungeAuthenticator::Open(const std::string& socket,
                                                             const std::string& certificate,
                                                             const Logger& log,
                                                             HandshakeLog* refusals,
                                                             const TokenStore* tokens) {
  if (certificate.empty()) {
    return nullptr;
  }
  absl::StatusOr<std::shared_ptr<const Munge>> munge = Munge::Load(socket);
  if (!munge.ok()) {
    log.Info("access", absl::StrCat(std::string(munge.status().message()),
                                    "; until then users need keys (muster keys client)"));
  }
  return std::make_shared<MungeAuthenticator>(munge.ok() ? *std::move(munge) : nullptr, certificate,
                                              refusals, tokens);
}

bool MungeAuthenticator::IsBlocking() const {
  if (threads_.fetch_add(1) < kThreadsMax) {
    processed_here = false;
    return true;
  }
  threads_.fetch_sub(1);
  processed_here = true;
  return false;
}

grpc::Status MungeAuthenticator::Process(const InputMetadata& metadata, grpc::AuthContext* context,
                                         OutputMetadata*, OutputMetadata*) {
  const bool here = std::exchange(processed_here, false);
  grpc::Status status = Decide(metadata, *context, !here);
  if (!here) {
    threads_.fetch_sub(1);
  }
  return status;
}

grpc::Status MungeAuthenticator::Refuse(const std::string& method, const std::string& why) const {
  if (refusals_ != nullptr && method != kDoorProbe) {
    refusals_->Refused(method, why);
  }
  return {grpc::StatusCode::UNAUTHENTICATED, why};
}

grpc::Status MungeAuthenticator::Decide(const InputMetadata& metadata,
                                        const grpc::AuthContext& context, bool may_wait) {
  const auto credential = metadata.find(kMungeMetadata);
  const auto path = metadata.find(":path");
  const std::string method =
      path == metadata.end() ? "" : std::string(path->second.data(), path->second.size());
  // A call with a token is judged by that alone, now and in the gate.
  if (const auto token = metadata.find(kTokenMetadata); token != metadata.end()) {
    const absl::Status good =
        tokens_ == nullptr || metadata.count(kTokenMetadata) > 1
            ? absl::UnauthenticatedError("a token that this controller does not take")
            : tokens_->Judge({token->second.data(), token->second.size()}).status();
    return good.ok() ? grpc::Status::OK : Refuse(method, std::string(good.message()));
  }
  if (credential == metadata.end()) {
    return context.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME).empty()
               ? Refuse(method, kNothingShown)
               : grpc::Status::OK;
  }
  if (metadata.count(kMungeMetadata) > 1 || path == metadata.end()) {
    return Refuse(method, "a call with two credentials, or for no method");
  }
  if (!may_wait) {
    return {grpc::StatusCode::UNAVAILABLE, "too many callers wait for munged; try again"};
  }
  std::string text(credential->second.data(), credential->second.size());
  Judged found = Judge(text, method);
  if (!found.status.ok()) {
    return Refuse(method, std::string(found.status.message()));
  }
  const MutexLock lock(&mutex_);
  if (found_.emplace(text, std::move(found)).second) {
    order_.push_back(std::move(text));
  }
  if (order_.size() > kKeptMax) {
    found_.erase(order_.front());
    order_.pop_front();
  }
  return grpc::Status::OK;
}

MungeAuthenticator::Judged MungeAuthenticator::Judge(const std::string& credential,
                                                     const std::string& method) {
  if (munge_ == nullptr) {
    return {absl::UnauthenticatedError("this controller takes no MUNGE credentials")};
  }
  const absl::StatusOr<Munge::Proof> proof = munge_->Decode(credential);
  if (!proof.ok()) {
    return {proof.status()};
  }
  const std::vector<std::string> own = OwnFingerprints();
  const bool for_us = std::any_of(own.begin(), own.end(), [&](const std::string& fingerprint) {
    return IsMungePayload(proof->payload, fingerprint, method);
  });
  if (!for_us) {
    return {absl::UnauthenticatedError(
        "MUNGE: a credential that was made for another server or another method")};
  }
  return {absl::OkStatus(), proof->uid};
}

std::vector<std::string> MungeAuthenticator::OwnFingerprints() {
  const absl::StatusOr<std::string> pem = ReadFile(certificate_);
  const absl::StatusOr<std::string> fingerprint = pem.ok() ? FingerprintOf(*pem) : pem.status();
  const MutexLock lock(&mutex_);
  if (fingerprint.ok() && std::find(own_.begin(), own_.end(), *fingerprint) == own_.end()) {
    own_.push_back(*fingerprint);
    if (own_.size() > kOwnMax) {
      own_.pop_front();
    }
  }
  return {own_.begin(), own_.end()};
}

MungeAuthenticator::Judged MungeAuthenticator::Take(const std::string& credential) {
  const MutexLock lock(&mutex_);
  const auto found = found_.find(credential);
  if (found == found_.end()) {
    return {absl::UnauthenticatedError("MUNGE: a credential that was used before")};
  }
  Judged judged = std::move(found->second);
  found_.erase(found);
  order_.erase(std::find(order_.begin(), order_.end(), credential));
  return judged;
}

}  // namespace muster::daemon
