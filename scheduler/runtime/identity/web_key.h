#pragma once

// Public keys of another issuer of tokens, as JSON Web Keys tell them (RFC 7517, 7518, 8037), and
// the signatures of JSON Web Tokens that they check.
//
// A key checks by one algorithm, its own: what a token's header says can only agree or not. Thread
// promise: immutable values, safe from any thread. Invariant: no symmetric key and no key that is
// too short is ever one.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct evp_pkey_st;

namespace muster {

class WebKey {
 public:
  // The numbers as bytes, the most significant first. InvalidArgument when they are no key.
  static absl::StatusOr<WebKey> FromRsa(std::string_view modulus, std::string_view exponent);
  static absl::StatusOr<WebKey> FromP256(std::string_view x, std::string_view y);
  static absl::StatusOr<WebKey> FromEd25519(std::string_view x);

  // "RS256", "ES256" or "EdDSA".
  [[nodiscard]] const std::string& algorithm() const { return algorithm_; }
  // Whether `signature`, in the form of JSON Web Signatures, is this key's over exactly `text`.
  [[nodiscard]] bool Verifies(std::string_view text, std::string_view signature) const;

 private:
  WebKey(std::string algorithm, std::shared_ptr<evp_pkey_st> key)
      : algorithm_(std::move(algorithm)), key_(std::move(key)) {}

  std::string algorithm_;
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace muster
