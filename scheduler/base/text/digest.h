#pragma once

// Digests of content as images and their registries write them: "sha256:" and 64 digits.
//
// Pure. Invariant: what is no digest, also one with capital letters, has no digits.

#include <string>
#include <string_view>

namespace muster {

// The 64 digits; empty when `text` is no such digest.
std::string_view DigestDigits(std::string_view text);

inline bool IsDigest(std::string_view text) {
  return !DigestDigits(text).empty();
}

}  // namespace muster
