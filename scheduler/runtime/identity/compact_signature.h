#pragma once

// Signed texts that fit into a header: JSON Web Signatures in compact form (RFC 7515), by Ed25519
// (RFC 8037).
//
// One algorithm, and one header that is compared as bytes, so that no text chooses how it is
// checked. The key is for such texts alone: they carry no purpose of ours. Invariant: what
// OpenCompact returns was signed by that very key.

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/runtime/identity/signing_key.h"

namespace muster {

// Longer texts are none of ours.
inline constexpr std::size_t kCompactBytesMax = 4096;

// "HEADER.PAYLOAD.SIGNATURE", each in base64url without padding. REQUIRES: an Ed25519 key.
absl::StatusOr<std::string> SignCompact(const SigningKey& key, std::string_view payload);

// The payload of a text that `key` signed; Unauthenticated when it is anything else.
absl::StatusOr<std::string> OpenCompact(const SigningKey& key, std::string_view text);

}  // namespace muster
