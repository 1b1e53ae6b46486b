#pragma once

// The keys of a site's issuer of tokens: a JSON Web Key Set (RFC 7517).
//
// Pure. Invariants: a key that is not for signatures, or of a kind that we do not check by, is left
// out, as the standard has it; a set without any is an error, and so is one of more than kKeysMax.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/runtime/identity/web_key.h"

namespace muster::daemon {

inline constexpr std::size_t kKeysMax = 32;
inline constexpr std::size_t kKeySetBytesMax = std::size_t{256} << 10;

struct NamedKey {
  std::string id;  // "kid"; may be empty
  WebKey key;
};
using KeySet = std::vector<NamedKey>;

absl::StatusOr<KeySet> ReadKeySet(std::string_view json);

}  // namespace muster::daemon
