#pragma once

// The directory in which `muster keys` keeps a cluster's authority and the keys that it made.
//
//   ca.key             the authority's key, and after it its own certificate
//   ca.pem             whom to trust: the authority's certificate, and the one before while it
//                      lasts
//   controller.{pem,key}
//   agents/NODE/       agent.{pem,key} and ca.pem: what goes to that node
//   clients/USER/      client.{pem,key} and ca.pem: what goes to that user
//   revoked            serials that count no more
//
// Thread promise: one process at a time (a lock says so). Invariants: (1) directories have mode
// 0700, keys 0600; (2) every file is there whole or not at all, and what others already hold stays
// good until Finish(); (3) errors are one line with the mend.

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"
#include "scheduler/runtime/identity/certificate_authority.h"

namespace muster::cli {

struct KeptCertificate {
  CertificateFacts facts;
  std::string path;
  bool revoked = false;
  bool of_old_authority = false;
};

class KeyStore {
 public:
  // Makes the directory with an authority and the controller's key. AlreadyExists when there is an
  // authority.
  static absl::StatusOr<KeyStore> Make(const std::string& directory, Time now,
                                       std::chrono::hours life);
  // NotFound when there is no authority.
  static absl::StatusOr<KeyStore> Open(const std::string& directory);

  // A key with its certificate; the directory in which it was put. AlreadyExists when there is one
  // that is still good, unless `renew`.
  absl::StatusOr<std::string> Issue(const CertificateSubject& subject, bool renew, Time now,
                                    std::chrono::hours life) const;
  // Takes a fresh authority; the old one is trusted on. FailedPrecondition while an earlier
  // rotation is not finished.
  absl::Status Rotate(Time now);
  // Ends a rotation: the controller's certificate is the fresh authority's, and the old one is
  // trusted no more. FailedPrecondition names the agents and users that would be locked out.
  absl::Status Finish(Time now, std::chrono::hours life);
  // From now on the certificate of `subject` counts no more.
  absl::Status Revoke(const CertificateSubject& subject) const;
  // Every certificate, the controller's first.
  [[nodiscard]] absl::StatusOr<std::vector<KeptCertificate>> List() const;

 private:
  KeyStore(std::string directory, LockFile lock, std::string own, CertificateAuthority authority)
      : directory_(std::move(directory)),
        lock_(std::move(lock)),
        own_(std::move(own)),
        authority_(std::move(authority)) {}
  [[nodiscard]] std::string Place(const CertificateSubject& subject) const;
  [[nodiscard]] absl::Status SpreadTrust() const;
  absl::StatusOr<KeptCertificate> Look(const std::string& path, const std::string& revoked) const;

  std::string directory_;
  LockFile lock_;
  std::string own_;  // the authority's certificate
  CertificateAuthority authority_;
};

}  // namespace muster::cli
