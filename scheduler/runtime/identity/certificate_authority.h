#pragma once

// A small authority: a key that signs certificates with the roles of certificate.h.
//
// Knows no files. Thread promise: immutable, safe from any thread. Invariants: (1) a certificate is
// for one role, and for one end of TLS alone: a controller's serves, the others call; (2) every
// key and every serial is fresh.

#include <chrono>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/runtime/identity/certificate.h"
#include "scheduler/runtime/identity/signing_key.h"

namespace muster {

// A certificate and its key, each in PEM.
struct CertifiedKey {
  std::string certificate;
  std::string key;
};

class CertificateAuthority {
 public:
  // A fresh one, good from five minutes before `now` (clocks differ) for `life`.
  static absl::StatusOr<CertifiedKey> Make(Time now, std::chrono::hours life);

  // From the authority's own certificate (the first of the PEM text) and key. FailedPrecondition
  // when they do not belong together.
  static absl::StatusOr<CertificateAuthority> From(std::string certificate, const std::string& key);

  // A fresh key with a certificate for the subject, which ends with the authority's at the latest.
  // InvalidArgument for a name that is not 1 to 64 of A-Z a-z 0-9 . _ -.
  [[nodiscard]] absl::StatusOr<CertifiedKey> Issue(const CertificateSubject& subject, Time now,
                                                   std::chrono::hours life) const;

  // Whether it signed the first certificate of a PEM text.
  [[nodiscard]] bool Signed(const std::string& certificate) const;

 private:
  CertificateAuthority(std::string certificate, SigningKey key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {}
  std::string certificate_;
  SigningKey key_;
};

}  // namespace muster
