#pragma once

// Certificates (X.509) as Muster reads them: whose they are, by a role that stands in them.
//
// The role is a URI among the subject's alternative names: "muster:controller", "muster:agent:NODE"
// or "muster:client:USER", exactly one. A controller's has the DNS name kControllerName too, which
// is what its callers ask for whatever address they call, so that TLS itself refuses another role
// in its place. Invariant: a certificate without exactly one role of ours has none.

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/clock.h"

namespace muster {

inline constexpr const char* kControllerName = "muster-controller";

enum class CertificateRole { kController, kAgent, kClient };

// "controller", "agent", "client".
const char* Name(CertificateRole role);

struct CertificateSubject {
  CertificateRole role = CertificateRole::kClient;
  std::string name;  // the node's or the user's; a controller has none
  friend bool operator==(const CertificateSubject&, const CertificateSubject&) = default;
};

// "controller", "agent n1", "client ada".
std::string ToText(const CertificateSubject& subject);

struct CertificateFacts {
  CertificateSubject subject;
  std::string serial;  // lower-case hex digits
  Time begins{};
  Time expires{};
  std::string fingerprint;  // SHA-256 of the whole certificate, 64 hex digits
};

// Of the first certificate in a PEM text. InvalidArgument: it is none, or names no role.
absl::StatusOr<CertificateFacts> ReadCertificate(std::string_view pem);

// The fingerprint of the first certificate in a PEM text, whatever its role.
absl::StatusOr<std::string> FingerprintOf(std::string_view pem);

// Whether the list of revoked certificates (`muster keys revoke`; a serial first on each line)
// names this one.
bool IsRevoked(std::string_view list, const CertificateFacts& facts);

// One line when the certificate is to be replaced soon, or has to be by now; empty before that.
std::string ExpiryWarning(const CertificateFacts& facts, Time now);

}  // namespace muster
