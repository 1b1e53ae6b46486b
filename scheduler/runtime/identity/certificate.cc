#include "scheduler/runtime/identity/certificate.h"

#include <ctime>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/identity/openssl_handle.h"

namespace muster {
namespace {

constexpr std::string_view kScheme = "muster:";
constexpr std::chrono::hours kWarnBefore{24 * 30};

// Every URI of ours among the alternative names.
std::vector<std::string> RolesOf(X509* certificate) {
  std::vector<std::string> roles;
  const openssl::Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  const int count = names == nullptr ? 0 : sk_GENERAL_NAME_num(names.get());
  for (int i = 0; i < count; ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) {
      continue;
    }
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    std::string text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                     static_cast<std::size_t>(ASN1_STRING_length(uri)));
    if (text.compare(0, kScheme.size(), kScheme) == 0) {
      roles.push_back(text.substr(kScheme.size()));
    }
  }
  ERR_clear_error();
  return roles;
}

bool ParseRole(const std::string& text, CertificateSubject* subject) {
  if (text == "controller") {
    subject->role = CertificateRole::kController;
    return true;
  }
  const std::size_t colon = text.find(':');
  const std::string role = text.substr(0, colon);
  subject->name = colon == std::string::npos ? "" : text.substr(colon + 1);
  subject->role = role == "agent" ? CertificateRole::kAgent : CertificateRole::kClient;
  return (role == "agent" || role == "client") && !subject->name.empty() &&
         subject->name.find('\0') == std::string::npos;
}

Time TimeOf(const ASN1_TIME* time) {
  std::tm fields = {};
  ASN1_TIME_to_tm(time, &fields);
  return std::chrono::time_point_cast<Time::duration>(
      std::chrono::system_clock::from_time_t(timegm(&fields)));
}

std::string SerialOf(X509* certificate) {
  const openssl::Number number(ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr));
  char* const digits = BN_bn2hex(number.get());
  std::string text = digits == nullptr ? "" : absl::AsciiStrToLower(digits);
  OPENSSL_free(digits);
  return text;
}

std::string Fingerprint(X509* certificate) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  X509_digest(certificate, EVP_sha256(), reinterpret_cast<unsigned char*>(digest.data()), &size);
  digest.resize(size);
  return absl::BytesToHexString(digest);
}

}  // namespace

const char* Name(CertificateRole role) {
  switch (role) {
    case CertificateRole::kController:
      return "controller";
    case CertificateRole::kAgent:
      return "agent";
    case CertificateRole::kClient:
      return "client";
  }
  return "";
}

std::string ToText(const CertificateSubject& subject) {
  return subject.name.empty() ? Name(subject.role)
                              : absl::StrCat(Name(subject.role), " ", subject.name);
}

absl::StatusOr<CertificateFacts> ReadCertificate(std::string_view pem) {
  const openssl::Certificate certificate = openssl::FirstCertificate(pem);
  if (certificate == nullptr) {
    return absl::InvalidArgumentError("not a certificate in PEM");
  }
  CertificateFacts facts;
  const std::vector<std::string> roles = RolesOf(certificate.get());
  if (roles.size() != 1 || !ParseRole(roles.front(), &facts.subject)) {
    return absl::InvalidArgumentError(
        "a certificate that names no role of Muster's; make one with: muster keys");
  }
  facts.serial = SerialOf(certificate.get());
  facts.begins = TimeOf(X509_get0_notBefore(certificate.get()));
  facts.expires = TimeOf(X509_get0_notAfter(certificate.get()));
  facts.fingerprint = Fingerprint(certificate.get());
  return facts;
}

absl::StatusOr<std::string> FingerprintOf(std::string_view pem) {
  const openssl::Certificate certificate = openssl::FirstCertificate(pem);
  if (certificate == nullptr) {
    return absl::InvalidArgumentError("not a certificate in PEM");
  }
  return Fingerprint(certificate.get());
}

bool IsRevoked(std::string_view list, const CertificateFacts& facts) {
  const std::vector<std::string> lines = absl::StrSplit(std::string(list), '\n');
  for (const std::string& line : lines) {
    if (line.substr(0, line.find(' ')) == facts.serial) {
      return true;
    }
  }
  return false;
}

std::string ExpiryWarning(const CertificateFacts& facts, Time now) {
  if (facts.expires - now > kWarnBefore) {
    return "";
  }
  const auto days =
      std::chrono::duration_cast<std::chrono::hours>(facts.expires - now).count() / 24;
  const std::string when = facts.expires <= now ? std::string("has expired")
                                                : absl::StrCat("expires in ", days, " days");
  return absl::StrCat("the certificate of ", ToText(facts.subject), " ", when,
                      "; make another with: muster keys ", Name(facts.subject.role),
                      facts.subject.name.empty() ? "" : " ", facts.subject.name, " --renew");
}

}  // namespace muster
