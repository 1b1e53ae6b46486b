#include "scheduler/runtime/identity/certificate_authority.h"

#include <algorithm>
#include <ctime>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/identity/openssl_handle.h"
#include "scheduler/runtime/mac.h"

namespace muster {
namespace {

using openssl::LastError;

constexpr std::size_t kSerialBytes = 16;
constexpr std::size_t kNameBytesMax = 64;
constexpr std::chrono::minutes kClocksDiffer{5};

struct Text {
  int kind;  // of an X.509 extension
  std::string value;
};

std::time_t SecondsOf(Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

absl::Status SetSerial(X509* certificate) {
  ASSIGN_OR_RETURN(std::string bytes, RandomBytes(kSerialBytes));
  bytes[0] = static_cast<char>((bytes[0] & 0x3f) | 0x40);  // positive, and always as long
  const openssl::Number number(BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                                         static_cast<int>(bytes.size()), nullptr));
  if (BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) == nullptr) {
    return LastError("cannot set a serial number");
  }
  return absl::OkStatus();
}

absl::Status AddExtensions(X509* certificate, X509* issuer, const std::vector<Text>& extensions) {
  X509V3_CTX context = {};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const Text& extension : extensions) {
    const openssl::Extension made(
        X509V3_EXT_conf_nid(nullptr, &context, extension.kind, extension.value.c_str()));
    if (made == nullptr || X509_add_ext(certificate, made.get(), -1) != 1) {
      return LastError(absl::StrCat("cannot set the extension ", OBJ_nid2sn(extension.kind)));
    }
  }
  return absl::OkStatus();
}

// A certificate of `key`, with all but its issuer, extensions and signature.
absl::StatusOr<openssl::Certificate> Draft(const SigningKey& key, const std::string& common_name,
                                           Time begins, Time expires) {
  openssl::Certificate draft(X509_new());
  X509_NAME* const subject = X509_get_subject_name(draft.get());
  const bool made =
      X509_set_version(draft.get(), X509_VERSION_3) == 1 &&
      ASN1_TIME_set(X509_getm_notBefore(draft.get()), SecondsOf(begins)) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(draft.get()), SecondsOf(expires)) != nullptr &&
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.data()),
                                 static_cast<int>(common_name.size()), -1, 0) == 1 &&
      X509_set_pubkey(draft.get(), key.get()) == 1;
  if (!made) {
    return LastError("cannot make a certificate");
  }
  RETURN_IF_ERROR(SetSerial(draft.get()));
  return draft;
}

absl::StatusOr<CertifiedKey> Finish(const openssl::Certificate& draft, const SigningKey& own,
                                    const SigningKey& signer) {
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  // Ed25519 takes no digest.
  if (X509_sign(draft.get(), signer.get(), nullptr) == 0 ||
      PEM_write_bio_X509(bio.get(), draft.get()) != 1) {
    return LastError("cannot sign a certificate");
  }
  ASSIGN_OR_RETURN(std::string key, own.ToPem());
  return CertifiedKey{openssl::Written(bio), std::move(key)};
}

std::vector<Text> ExtensionsFor(const CertificateSubject& subject) {
  const bool serves = subject.role == CertificateRole::kController;
  std::string names = absl::StrCat("URI:muster:", Name(subject.role));
  if (serves) {
    absl::StrAppend(&names, ",DNS:", kControllerName);
  } else {
    absl::StrAppend(&names, ":", subject.name);
  }
  return {{NID_basic_constraints, "critical,CA:FALSE"},
          {NID_key_usage, "critical,digitalSignature"},
          {NID_ext_key_usage, serves ? "serverAuth" : "clientAuth"},
          {NID_subject_alt_name, names},
          {NID_subject_key_identifier, "hash"},
          {NID_authority_key_identifier, "keyid:always"}};
}

}  // namespace

absl::StatusOr<CertifiedKey> CertificateAuthority::Make(Time now, std::chrono::hours life) {
  ASSIGN_OR_RETURN(const SigningKey key, SigningKey::Generate());
  ASSIGN_OR_RETURN(const std::string tag, RandomBytes(4));
  // Names differ, so that of two authorities in one file the right one is found.
  ASSIGN_OR_RETURN(const openssl::Certificate draft,
                   Draft(key, absl::StrCat("Muster authority ", absl::BytesToHexString(tag)),
                         now - kClocksDiffer, now + life));
  if (X509_set_issuer_name(draft.get(), X509_get_subject_name(draft.get())) != 1) {
    return LastError("cannot name the authority");
  }
  RETURN_IF_ERROR(AddExtensions(draft.get(), draft.get(),
                                {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                 {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                 {NID_subject_key_identifier, "hash"}}));
  return Finish(draft, key, key);
}

absl::StatusOr<CertificateAuthority> CertificateAuthority::From(std::string certificate,
                                                                const std::string& key) {
  ASSIGN_OR_RETURN(SigningKey signer, SigningKey::FromPem(key));
  const openssl::Certificate own = openssl::FirstCertificate(certificate);
  if (own == nullptr || X509_check_private_key(own.get(), signer.get()) != 1) {
    ERR_clear_error();
    return absl::FailedPreconditionError("the certificate and the key do not belong together");
  }
  return CertificateAuthority(std::move(certificate), std::move(signer));
}

absl::StatusOr<CertifiedKey> CertificateAuthority::Issue(const CertificateSubject& subject,
                                                         Time now, std::chrono::hours life) const {
  const bool nameless = subject.role == CertificateRole::kController;
  if (nameless ? !subject.name.empty() : !IsPlainName(subject.name, kNameBytesMax)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Name(subject.role), ": a name is 1 to 64 of A-Z a-z 0-9 . _ -"));
  }
  const openssl::Certificate issuer = openssl::FirstCertificate(certificate_);
  ASSIGN_OR_RETURN(const SigningKey key, SigningKey::Generate());
  ASSIGN_OR_RETURN(const openssl::Certificate draft,
                   Draft(key, absl::StrCat("muster ", ToText(subject)).substr(0, kNameBytesMax),
                         now - kClocksDiffer, now + life));
  std::time_t moment = SecondsOf(now);
  if (X509_cmp_time(X509_get0_notAfter(issuer.get()), &moment) <= 0) {
    return absl::FailedPreconditionError(
        "the authority has expired; make another: muster keys rotate");
  }
  if (ASN1_TIME_compare(X509_get0_notAfter(draft.get()), X509_get0_notAfter(issuer.get())) > 0) {
    X509_set1_notAfter(draft.get(), X509_get0_notAfter(issuer.get()));
  }
  if (X509_set_issuer_name(draft.get(), X509_get_subject_name(issuer.get())) != 1) {
    return LastError("cannot name the issuer");
  }
  RETURN_IF_ERROR(AddExtensions(draft.get(), issuer.get(), ExtensionsFor(subject)));
  return Finish(draft, key, key_);
}

bool CertificateAuthority::Signed(const std::string& certificate) const {
  const openssl::Certificate other = openssl::FirstCertificate(certificate);
  const bool is_ours = other != nullptr && X509_verify(other.get(), key_.get()) == 1;
  ERR_clear_error();
  return is_ours;
}

}  // namespace muster
