#pragma once

// Signatures: a holder of a private key signs, and any holder of its public half can check.
//
// Keys that we make are Ed25519 (RFC 8032); those of certificates made elsewhere may be RSA or
// elliptic curves, and sign with SHA-256. A signature is for one purpose, which stands in front of
// the bytes, padded to more than what TLS lets a peer choose at the head of anything that it has a
// key sign. Thread promise: immutable values, safe from any thread. Invariant: a signature over one
// purpose is none over another.

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct evp_pkey_st;

namespace muster {

inline constexpr std::size_t kPurposeBytes = 64;

// Lets OpenSSL's own objects live until the process is gone: with its handler for the exit, threads
// of gRPC that still end a connection would use what is freed under them. Call it from main, first.
void KeepOpenSslToTheEnd();

class VerifyingKey {
 public:
  VerifyingKey() = default;
  // Of a PEM public key or of the first certificate in a PEM text.
  static absl::StatusOr<VerifyingKey> FromPem(std::string_view pem);

  [[nodiscard]] bool valid() const { return key_ != nullptr; }
  // Whether `signature` is this key's over exactly these bytes, for this purpose. REQUIRES: the
  // purpose is shorter than kPurposeBytes.
  [[nodiscard]] bool Verifies(std::string_view purpose, std::string_view bytes,
                              std::string_view signature) const;

 private:
  std::shared_ptr<evp_pkey_st> key_;
};

class SigningKey {
 public:
  SigningKey() = default;
  static absl::StatusOr<SigningKey> Generate();
  static absl::StatusOr<SigningKey> FromPem(std::string_view pem);
  // The key in the private file `path` (private_file.h); with `make`, a fresh one is put there,
  // durably, when there is no file.
  static absl::StatusOr<SigningKey> Open(const std::string& path, bool make);

  [[nodiscard]] bool valid() const { return key_ != nullptr; }
  [[nodiscard]] absl::StatusOr<std::string> ToPem() const;
  // The half that verifies, as PEM.
  [[nodiscard]] absl::StatusOr<std::string> PublicPem() const;
  [[nodiscard]] absl::StatusOr<std::string> Sign(std::string_view purpose,
                                                 std::string_view bytes) const;
  [[nodiscard]] evp_pkey_st* get() const { return key_.get(); }

 private:
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace muster
