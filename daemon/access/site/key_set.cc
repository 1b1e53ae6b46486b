#include "daemon/access/site/key_set.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace muster::daemon {
namespace {

using Member = nlohmann::json;

std::string TextOf(const Member& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The bytes of a base64url text; empty when it is none.
std::string BytesOf(const Member& object, const char* name) {
  std::string bytes;
  return absl::WebSafeBase64Unescape(TextOf(object, name), &bytes) ? bytes : std::string();
}

absl::StatusOr<WebKey> KeyOf(const Member& object) {
  const std::string kind = TextOf(object, "kty");
  const std::string curve = TextOf(object, "crv");
  if (kind == "RSA") {
    return WebKey::FromRsa(BytesOf(object, "n"), BytesOf(object, "e"));
  }
  if (kind == "EC" && curve == "P-256") {
    return WebKey::FromP256(BytesOf(object, "x"), BytesOf(object, "y"));
  }
  if (kind == "OKP" && curve == "Ed25519") {
    return WebKey::FromEd25519(BytesOf(object, "x"));
  }
  return absl::UnimplementedError("a kind of key that is not checked by");
}

bool IsForSignatures(const Member& object, const WebKey& key) {
  const std::string use = TextOf(object, "use");
  const std::string algorithm = TextOf(object, "alg");
  return (use.empty() || use == "sig") && (algorithm.empty() || algorithm == key.algorithm());
}

}  // namespace

absl::StatusOr<KeySet> ReadKeySet(std::string_view json) {
  if (json.size() > kKeySetBytesMax) {
    return absl::InvalidArgumentError("a key set of more than 256 KiB");
  }
  const Member set = Member::parse(json.begin(), json.end(), nullptr, false);
  const auto keys = set.is_object() ? set.find("keys") : set.end();
  if (!set.is_object() || keys == set.end() || !keys->is_array()) {
    return absl::InvalidArgumentError("not a JSON Web Key Set: {\"keys\": […]}");
  }
  if (keys->size() > kKeysMax) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kKeysMax, " keys"));
  }
  KeySet read;
  for (const Member& object : *keys) {
    absl::StatusOr<WebKey> key =
        object.is_object() ? KeyOf(object) : absl::InvalidArgumentError("no key");
    if (key.ok() && IsForSignatures(object, *key)) {
      read.push_back({TextOf(object, "kid"), *std::move(key)});
    }
  }
  if (read.empty()) {
    return absl::InvalidArgumentError(
        "no key for signatures by RS256 (2048 bits or more), ES256 or EdDSA (Ed25519)");
  }
  return read;
}

}  // namespace muster::daemon
