#include "scheduler/runtime/identity/web_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/runtime/identity/openssl_handle.h"

namespace muster {
namespace {

using Parameters = std::unique_ptr<OSSL_PARAM, openssl::Freer<OSSL_PARAM_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, openssl::Freer<OSSL_PARAM_BLD_free>>;
using Making = std::unique_ptr<EVP_PKEY_CTX, openssl::Freer<EVP_PKEY_CTX_free>>;
using PairSignature = std::unique_ptr<ECDSA_SIG, openssl::Freer<ECDSA_SIG_free>>;
using SharedKey = std::shared_ptr<evp_pkey_st>;

constexpr int kRsaBitsLeast = 2048;
constexpr int kRsaBitsMost = 8192;
constexpr std::size_t kP256Bytes = 32;
constexpr std::size_t kEd25519KeyBytes = 32;

const unsigned char* WebOctets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

openssl::Number NumberOf(std::string_view bytes) {
  return openssl::Number(BN_bin2bn(WebOctets(bytes), static_cast<int>(bytes.size()), nullptr));
}

absl::Status NoKey(const char* why) {
  ERR_clear_error();
  return absl::InvalidArgumentError(why);
}

// Of a kind's parameters; checked, so that a point lies on its curve.
absl::StatusOr<SharedKey> MakeKey(const char* kind, const Builder& builder) {
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const Making making(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
  EVP_PKEY* made = nullptr;
  if (parameters == nullptr || making == nullptr || EVP_PKEY_fromdata_init(making.get()) != 1 ||
      EVP_PKEY_fromdata(making.get(), &made, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    return NoKey("its numbers are no key");
  }
  SharedKey key(made, EVP_PKEY_free);
  const Making check(EVP_PKEY_CTX_new_from_pkey(nullptr, made, nullptr));
  if (check == nullptr || EVP_PKEY_public_check(check.get()) != 1) {
    return NoKey("its numbers are no key");
  }
  return key;
}

// From R and S behind one another, as a JSON Web Signature has them, to what OpenSSL checks; empty:
// it is none.
std::string DerOf(std::string_view pair) {
  if (pair.size() != 2 * kP256Bytes) {
    return "";
  }
  openssl::Number r = NumberOf(pair.substr(0, kP256Bytes));
  openssl::Number s = NumberOf(pair.substr(kP256Bytes));
  const PairSignature signature(ECDSA_SIG_new());
  if (r == nullptr || s == nullptr || signature == nullptr ||
      ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) {
    return "";
  }
  static_cast<void>(r.release());  // they are the signature's now
  static_cast<void>(s.release());
  unsigned char* bytes = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &bytes);
  std::string der(reinterpret_cast<const char*>(bytes),
                  size > 0 ? static_cast<std::size_t>(size) : 0);
  OPENSSL_free(bytes);
  return der;
}

}  // namespace

absl::StatusOr<WebKey> WebKey::FromRsa(std::string_view modulus, std::string_view exponent) {
  const openssl::Number n = NumberOf(modulus);
  const openssl::Number e = NumberOf(exponent);
  const Builder builder(OSSL_PARAM_BLD_new());
  if (n == nullptr || e == nullptr || builder == nullptr || BN_num_bits(n.get()) < kRsaBitsLeast ||
      BN_num_bits(n.get()) > kRsaBitsMost || BN_num_bits(e.get()) > 64 || BN_is_odd(e.get()) == 0 ||
      BN_is_one(e.get()) != 0 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return NoKey("an RSA key has 2048 to 8192 bits");
  }
  ASSIGN_OR_RETURN(SharedKey key, MakeKey("RSA", builder));
  return WebKey("RS256", std::move(key));
}

absl::StatusOr<WebKey> WebKey::FromP256(std::string_view x, std::string_view y) {
  const Builder builder(OSSL_PARAM_BLD_new());
  if (x.size() != kP256Bytes || y.size() != kP256Bytes || builder == nullptr) {
    return NoKey("a point of P-256 has 32 bytes each way");
  }
  std::string point = "\x04";
  point.append(x).append(y);
  if (OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) !=
          1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return NoKey("its numbers are no key");
  }
  ASSIGN_OR_RETURN(SharedKey key, MakeKey("EC", builder));
  return WebKey("ES256", std::move(key));
}

absl::StatusOr<WebKey> WebKey::FromEd25519(std::string_view x) {
  EVP_PKEY* const made =
      x.size() != kEd25519KeyBytes
          ? nullptr
          : EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, WebOctets(x), x.size());
  if (made == nullptr) {
    return NoKey("an Ed25519 key has 32 bytes");
  }
  return WebKey("EdDSA", SharedKey(made, EVP_PKEY_free));
}

bool WebKey::Verifies(std::string_view text, std::string_view signature) const {
  const bool curve = algorithm_ == "ES256";
  const std::string given = curve ? DerOf(signature) : std::string(signature);
  const EVP_MD* const digest = algorithm_ == "EdDSA" ? nullptr : EVP_sha256();
  const openssl::Context context(EVP_MD_CTX_new());
  const bool right =
      !given.empty() && context != nullptr &&
      EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key_.get()) == 1 &&
      EVP_DigestVerify(context.get(), WebOctets(given), given.size(), WebOctets(text),
                       text.size()) == 1;
  ERR_clear_error();
  return right;
}

}  // namespace muster
