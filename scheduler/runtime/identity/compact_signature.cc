#include "scheduler/runtime/identity/compact_signature.h"

#include <openssl/evp.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/runtime/identity/openssl_handle.h"

namespace muster {
namespace {

constexpr std::string_view kHeader = R"({"alg":"EdDSA","typ":"JWT"})";
constexpr std::size_t kEd25519Bytes = 64;

std::string Base64Url(std::string_view bytes) {
  return absl::WebSafeBase64Escape(std::string(bytes));
}

const unsigned char* Octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

bool Signed(EVP_PKEY* key, std::string_view text, std::string_view signature) {
  const openssl::Context context(EVP_MD_CTX_new());
  const bool right = EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key) == 1 &&
                     EVP_DigestVerify(context.get(), Octets(signature), signature.size(),
                                      Octets(text), text.size()) == 1;
  ERR_clear_error();
  return right;
}

}  // namespace

absl::StatusOr<std::string> SignCompact(const SigningKey& key, std::string_view payload) {
  if (!key.valid() || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519) {
    return absl::FailedPreconditionError("tokens need an Ed25519 key");
  }
  const std::string text = absl::StrCat(Base64Url(kHeader), ".", Base64Url(payload));
  const openssl::Context context(EVP_MD_CTX_new());
  std::string signature(kEd25519Bytes, '\0');
  std::size_t size = signature.size();
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     Octets(text), text.size()) != 1 ||
      size != kEd25519Bytes) {
    return openssl::LastError("cannot sign");
  }
  return absl::StrCat(text, ".", Base64Url(signature));
}

absl::StatusOr<std::string> OpenCompact(const SigningKey& key, std::string_view text) {
  const auto refused = absl::UnauthenticatedError("not a token that was made here");
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (!key.valid() || text.size() > kCompactBytesMax || second == std::string_view::npos ||
      text.substr(0, first) != Base64Url(kHeader)) {
    return refused;
  }
  const std::string written(text.substr(second + 1));
  std::string signature;
  // One spelling for each token: what decodes to the same bytes by other letters is refused, too.
  if (!absl::WebSafeBase64Unescape(written, &signature) || signature.size() != kEd25519Bytes ||
      Base64Url(signature) != written || !Signed(key.get(), text.substr(0, second), signature)) {
    return refused;
  }
  std::string payload;
  if (!absl::WebSafeBase64Unescape(std::string(text.substr(first + 1, second - first - 1)),
                                   &payload)) {
    return refused;
  }
  return payload;
}

}  // namespace muster
