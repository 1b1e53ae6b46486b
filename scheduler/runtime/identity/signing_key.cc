#include "scheduler/runtime/identity/signing_key.h"

#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/openssl_handle.h"
#include "scheduler/runtime/identity/private_file.h"

namespace muster {
namespace {

using openssl::LastError;

// What is really signed.
std::string Framed(std::string_view purpose, std::string_view bytes) {
  MUSTER_CHECK(purpose.size() < kPurposeBytes);
  std::string text(purpose);
  text.resize(kPurposeBytes, '\n');
  text.append(bytes);
  return text;
}

// Ed25519 has a digest of its own.
const EVP_MD* DigestFor(EVP_PKEY* key) {
  const int kind = EVP_PKEY_get_base_id(key);
  return kind == EVP_PKEY_ED25519 || kind == EVP_PKEY_ED448 ? nullptr : EVP_sha256();
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// OpenSSL would ask at the terminal for the password of a key that has one.
int NoPassword(char*, int, int, void*) {
  return -1;
}

std::shared_ptr<EVP_PKEY> Shared(EVP_PKEY* key) {
  return {key, EVP_PKEY_free};
}

}  // namespace

void KeepOpenSslToTheEnd() {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
}

absl::StatusOr<VerifyingKey> VerifyingKey::FromPem(std::string_view pem) {
  VerifyingKey made;
  if (const openssl::Certificate certificate = openssl::FirstCertificate(pem)) {
    made.key_ = Shared(X509_get_pubkey(certificate.get()));
  } else {
    const openssl::Bio bio = openssl::Reader(pem);
    made.key_ = Shared(PEM_read_bio_PUBKEY(bio.get(), nullptr, NoPassword, nullptr));
  }
  if (made.key_ == nullptr) {
    return LastError("neither a public key nor a certificate");
  }
  return made;
}

bool VerifyingKey::Verifies(std::string_view purpose, std::string_view bytes,
                            std::string_view signature) const {
  if (key_ == nullptr) {
    return false;
  }
  const std::string text = Framed(purpose, bytes);
  const openssl::Context context(EVP_MD_CTX_new());
  const bool right = EVP_DigestVerifyInit(context.get(), nullptr, DigestFor(key_.get()), nullptr,
                                          key_.get()) == 1 &&
                     EVP_DigestVerify(context.get(), Bytes(signature), signature.size(),
                                      Bytes(text), text.size()) == 1;
  ERR_clear_error();
  return right;
}

absl::StatusOr<SigningKey> SigningKey::Generate() {
  SigningKey made;
  made.key_ = Shared(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (made.key_ == nullptr) {
    return LastError("cannot make a key");
  }
  return made;
}

absl::StatusOr<SigningKey> SigningKey::FromPem(std::string_view pem) {
  SigningKey made;
  const openssl::Bio bio = openssl::Reader(pem);
  made.key_ = Shared(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  if (made.key_ == nullptr) {
    return absl::InvalidArgumentError("not a private key in PEM, or one with a password");
  }
  return made;
}

absl::StatusOr<SigningKey> SigningKey::Open(const std::string& path, bool make) {
  const absl::StatusOr<std::string> pem = ReadPrivateFile(path);
  if (make && absl::IsNotFound(pem.status())) {
    ASSIGN_OR_RETURN(const SigningKey fresh, Generate());
    ASSIGN_OR_RETURN(const std::string text, fresh.ToPem());
    RETURN_IF_ERROR(WriteFileAtomically(path, text));
    return fresh;
  }
  RETURN_IF_ERROR(pem.status());
  absl::StatusOr<SigningKey> key = FromPem(*pem);
  if (!key.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": ", std::string(key.status().message())));
  }
  return key;
}

absl::StatusOr<std::string> SigningKey::ToPem() const {
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return LastError("cannot write a key");
  }
  return openssl::Written(bio);
}

absl::StatusOr<std::string> SigningKey::PublicPem() const {
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PUBKEY(bio.get(), key_.get()) != 1) {
    return LastError("cannot write a public key");
  }
  return openssl::Written(bio);
}

absl::StatusOr<std::string> SigningKey::Sign(std::string_view purpose,
                                             std::string_view bytes) const {
  if (key_ == nullptr) {
    return absl::FailedPreconditionError("no key to sign with");
  }
  const std::string text = Framed(purpose, bytes);
  const openssl::Context context(EVP_MD_CTX_new());
  std::size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, DigestFor(key_.get()), nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, Bytes(text), text.size()) != 1) {
    return LastError("cannot sign");
  }
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     Bytes(text), text.size()) != 1) {
    return LastError("cannot sign");
  }
  signature.resize(size);
  return signature;
}

}  // namespace muster
