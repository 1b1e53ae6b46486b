#include "agent/link/order_check.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "proto/convert/order_purpose.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/identity/certificate.h"
#include "scheduler/runtime/mac.h"

namespace muster::agent {
namespace {

constexpr std::size_t kChallengeBytes = 32;
constexpr std::chrono::seconds kClocksDiffer{kClocksDifferSeconds};

Time TimeOf(std::int64_t milliseconds) {
  return Time(std::chrono::milliseconds(milliseconds));
}

}  // namespace

absl::StatusOr<std::string> OrderCheck::Begin() {
  key_ = VerifyingKey();
  sequence_ = 0;
  ASSIGN_OR_RETURN(challenge_, RandomBytes(kChallengeBytes));
  return challenge_;
}

absl::Status OrderCheck::Trust(const wire::Welcome& welcome, const std::string& certificate) {
  absl::StatusOr<VerifyingKey> key = VerifyingKey::FromPem(welcome.order_key());
  if (!key.ok()) {
    return absl::FailedPreconditionError(
        "the controller names no key for its orders: it is of an older version; update it");
  }
  if (keyed_) {
    if (certificate.empty()) {
      return absl::PermissionDeniedError("the controller has shown no certificate");
    }
    ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(certificate));
    ASSIGN_OR_RETURN(const VerifyingKey voucher, VerifyingKey::FromPem(certificate));
    const auto& vouchers = welcome.order_key_vouchers();
    const bool vouched =
        std::any_of(vouchers.begin(), vouchers.end(), [&](const std::string& signature) {
          return voucher.Verifies(kOrderKeyPurpose, welcome.order_key(), signature);
        });
    if (facts.subject.role != CertificateRole::kController || !vouched) {
      return absl::PermissionDeniedError(absl::StrCat(
          "the key of the orders is not vouched for by a controller's certificate, but by that of ",
          ToText(facts.subject)));
    }
  }
  key_ = *std::move(key);
  return absl::OkStatus();
}

absl::StatusOr<wire::OrderBody> OrderCheck::Open(const wire::SignedOrder& order, Time now) {
  wire::OrderBody body;
  absl::Status judged;
  if (!key_.Verifies(kOrderPurpose, order.body(), order.signature())) {
    judged = absl::PermissionDeniedError("its signature is not the controller's");
  } else if (!body.ParseFromString(order.body())) {
    judged = absl::PermissionDeniedError("it cannot be read");
  } else {
    judged = Judge(body, now);
  }
  if (!judged.ok()) {
    key_ = VerifyingKey();
    return judged;
  }
  sequence_ = body.sequence();
  return body;
}

absl::Status OrderCheck::Judge(const wire::OrderBody& body, Time now) const {
  if (body.node() != node_) {
    return absl::PermissionDeniedError(absl::StrCat("it was signed for node ", body.node()));
  }
  if (body.challenge() != challenge_) {
    return absl::PermissionDeniedError("it was signed for another stream: it is shown again");
  }
  if (body.sequence() != sequence_ + 1) {
    return absl::PermissionDeniedError(
        absl::StrCat("it is order ", body.sequence(), " of the stream and came after ", sequence_));
  }
  if (body.expiry() == 0) {
    return absl::OkStatus();  // such an order is good for ever, whatever the clocks say
  }
  if (TimeOf(body.not_before()) > now + kClocksDiffer) {
    return absl::FailedPreconditionError(absl::StrCat(
        "it is of ",
        std::chrono::duration_cast<std::chrono::seconds>(TimeOf(body.not_before()) - now).count(),
        " s ahead: this node's clock is behind the controller's; set it (NTP)"));
  }
  if (TimeOf(body.expiry()) < now) {
    return absl::FailedPreconditionError(absl::StrCat(
        "it expired ",
        std::chrono::duration_cast<std::chrono::seconds>(now - TimeOf(body.expiry())).count(),
        " s ago, or this node's clock is ahead of the controller's; set it (NTP)"));
  }
  return absl::OkStatus();
}

absl::Status MayRunJobsOf(uid_t uid, const JobUsers& users) {
  if (users.own != 0 || !users.cluster) {
    return uid == users.own ? absl::OkStatus()
                            : absl::PermissionDeniedError(absl::StrCat(
                                  "this agent runs as uid ", users.own, " and runs no jobs of uid ",
                                  uid, "; only root's agent with keys becomes other users"));
  }
  if (uid == 0) {
    return absl::PermissionDeniedError(
        "agents with keys run no jobs of root's: submit as an ordinary user");
  }
  // (uid_t)-1 means "unchanged" to the calls that change it.
  if (uid < users.min_uid || uid == static_cast<uid_t>(-1)) {
    return absl::PermissionDeniedError(absl::StrCat("this node runs no jobs of uid ", uid,
                                                    ", only from ", users.min_uid,
                                                    " on (muster-agent --min-uid)"));
  }
  return absl::OkStatus();
}

}  // namespace muster::agent
