#pragma once

// OpenSSL's objects, freed by themselves, and its errors as statuses.
//
// For the files beside this one alone. Thread promise: a handle is its owner's; LastError() speaks
// of the calling thread. Invariant: no handle is freed twice.

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace muster::openssl {

template <auto kFree>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Context = std::unique_ptr<EVP_MD_CTX, Freer<EVP_MD_CTX_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;
using Number = std::unique_ptr<BIGNUM, Freer<BN_free>>;

inline absl::Status LastError(std::string_view what) {
  std::array<char, 256> text = {};
  const unsigned long code = ERR_peek_last_error();
  ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return absl::InternalError(
      absl::StrCat(std::string(what), code == 0 ? "" : ": ", code == 0 ? "" : text.data()));
}

inline Bio Reader(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// What was written to a memory buffer.
inline std::string Written(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

// The first certificate of a PEM text; null when there is none.
inline Certificate FirstCertificate(std::string_view pem) {
  const Bio bio = Reader(pem);
  Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return certificate;
}

}  // namespace muster::openssl
