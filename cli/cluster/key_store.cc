#include "cli/cluster/key_store.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/identity/private_file.h"

namespace muster::cli {
namespace {

constexpr std::chrono::hours kAuthorityLife{24 * 3650};
constexpr const char* kCertificateEnd = "-----END CERTIFICATE-----\n";

absl::StatusOr<LockFile> TakeDirectory(const std::string& directory) {
  RETURN_IF_ERROR(EnsurePrivateDirectory(directory));
  std::error_code error;
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  return LockFile::Take(directory + "/lock");
}

// The first certificate of a PEM text, as text.
std::string FirstOf(const std::string& pem) {
  const std::size_t begin = pem.find("-----BEGIN CERTIFICATE-----");
  const std::size_t end = pem.find(kCertificateEnd);
  return begin == std::string::npos || end == std::string::npos || end < begin
             ? ""
             : pem.substr(begin, end + std::string(kCertificateEnd).size() - begin);
}

absl::Status WritePair(const std::string& stem, const CertifiedKey& pair) {
  RETURN_IF_ERROR(WriteFileAtomically(stem + ".key", pair.key, 0600));
  return WriteFileAtomically(stem + ".pem", pair.certificate, 0644);
}

std::string ReadOrNothing(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  return text.ok() ? *text : "";
}

// The names of a directory's entries, in order; none when it is not there.
std::vector<std::string> EntriesOf(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

absl::StatusOr<KeyStore> KeyStore::Make(const std::string& directory, Time now,
                                        std::chrono::hours life) {
  ASSIGN_OR_RETURN(LockFile lock, TakeDirectory(directory));
  std::error_code error;
  if (std::filesystem::exists(directory + "/ca.key", error)) {
    return absl::AlreadyExistsError(
        absl::StrCat(directory, ": has an authority already; another one: muster keys rotate"));
  }
  ASSIGN_OR_RETURN(const CertifiedKey own, CertificateAuthority::Make(now, kAuthorityLife));
  ASSIGN_OR_RETURN(CertificateAuthority authority,
                   CertificateAuthority::From(own.certificate, own.key));
  KeyStore store(directory, std::move(lock), own.certificate, std::move(authority));
  ASSIGN_OR_RETURN(const CertifiedKey controller,
                   store.authority_.Issue({CertificateRole::kController, ""}, now, life));
  RETURN_IF_ERROR(WriteFileAtomically(directory + "/ca.pem", own.certificate, 0644));
  RETURN_IF_ERROR(WritePair(directory + "/controller", controller));
  // Last: with it the directory counts.
  RETURN_IF_ERROR(WriteFileAtomically(directory + "/ca.key", own.key + own.certificate, 0600));
  return store;
}

absl::StatusOr<KeyStore> KeyStore::Open(const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::exists(directory + "/ca.key", error)) {
    return absl::NotFoundError(
        absl::StrCat(directory, ": no authority there; make one: muster keys init"));
  }
  ASSIGN_OR_RETURN(LockFile lock, TakeDirectory(directory));
  ASSIGN_OR_RETURN(const std::string both, ReadPrivateFile(directory + "/ca.key"));
  std::string own = FirstOf(both);
  absl::StatusOr<CertificateAuthority> authority = CertificateAuthority::From(own, both);
  if (!authority.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, "/ca.key: ", std::string(authority.status().message()),
                     "; put the right one back"));
  }
  return KeyStore(directory, std::move(lock), std::move(own), *std::move(authority));
}

std::string KeyStore::Place(const CertificateSubject& subject) const {
  switch (subject.role) {
    case CertificateRole::kController:
      return directory_;
    case CertificateRole::kAgent:
      return absl::StrCat(directory_, "/agents/", subject.name);
    case CertificateRole::kClient:
      return absl::StrCat(directory_, "/clients/", subject.name);
  }
  return directory_;
}

absl::StatusOr<KeptCertificate> KeyStore::Look(const std::string& path,
                                               const std::string& revoked) const {
  ASSIGN_OR_RETURN(const std::string pem, ReadFile(path));
  absl::StatusOr<CertificateFacts> facts = ReadCertificate(pem);
  if (!facts.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": ", std::string(facts.status().message())));
  }
  KeptCertificate kept{*std::move(facts), path, false, !authority_.Signed(pem)};
  kept.revoked = IsRevoked(revoked, kept.facts);
  return kept;
}

absl::StatusOr<std::string> KeyStore::Issue(const CertificateSubject& subject, bool renew, Time now,
                                            std::chrono::hours life) const {
  ASSIGN_OR_RETURN(const CertifiedKey pair, authority_.Issue(subject, now, life));
  const std::string place = Place(subject);
  const std::string stem = absl::StrCat(place, "/", Name(subject.role));
  const absl::StatusOr<KeptCertificate> there =
      Look(stem + ".pem", ReadOrNothing(directory_ + "/revoked"));
  if (there.ok() && !renew && !there->revoked && !there->of_old_authority &&
      there->facts.expires > now) {
    return absl::AlreadyExistsError(absl::StrCat(ToText(subject), ": has a certificate in ", place,
                                                 "; to make another: --renew"));
  }
  RETURN_IF_ERROR(EnsurePrivateDirectory(place));
  if (subject.role != CertificateRole::kController) {
    ASSIGN_OR_RETURN(const std::string trusted, ReadFile(directory_ + "/ca.pem"));
    RETURN_IF_ERROR(WriteFileAtomically(place + "/ca.pem", trusted, 0644));
  }
  RETURN_IF_ERROR(WritePair(stem, pair));
  return place;
}

// Puts ca.pem beside each key that was made.
absl::Status KeyStore::SpreadTrust() const {
  ASSIGN_OR_RETURN(const std::string trusted, ReadFile(directory_ + "/ca.pem"));
  for (const char* kind : {"/agents", "/clients"}) {
    for (const std::string& name : EntriesOf(directory_ + kind)) {
      RETURN_IF_ERROR(
          WriteFileAtomically(absl::StrCat(directory_, kind, "/", name, "/ca.pem"), trusted, 0644));
    }
  }
  return absl::OkStatus();
}

absl::Status KeyStore::Rotate(Time now) {
  ASSIGN_OR_RETURN(const std::string trusted, ReadFile(directory_ + "/ca.pem"));
  if (trusted != own_) {
    return absl::FailedPreconditionError(absl::StrCat(
        directory_,
        ": the last rotation is not finished; do so first: muster keys rotate --finish"));
  }
  ASSIGN_OR_RETURN(const CertifiedKey fresh, CertificateAuthority::Make(now, kAuthorityLife));
  ASSIGN_OR_RETURN(CertificateAuthority authority,
                   CertificateAuthority::From(fresh.certificate, fresh.key));
  // Killed in between, it trusts one more that signed nothing yet.
  RETURN_IF_ERROR(WriteFileAtomically(directory_ + "/ca.pem", fresh.certificate + own_, 0644));
  RETURN_IF_ERROR(WriteFileAtomically(directory_ + "/ca.key", fresh.key + fresh.certificate, 0600));
  own_ = fresh.certificate;
  authority_ = std::move(authority);
  return SpreadTrust();
}

absl::Status KeyStore::Finish(Time now, std::chrono::hours life) {
  ASSIGN_OR_RETURN(const std::vector<KeptCertificate> all, List());
  std::vector<std::string> left;
  for (const KeptCertificate& each : all) {
    if (each.of_old_authority && !each.revoked && each.facts.expires > now &&
        each.facts.subject.role != CertificateRole::kController) {
      left.push_back(ToText(each.facts.subject));
    }
  }
  if (!left.empty()) {
    const std::size_t shown = std::min<std::size_t>(left.size(), 5);
    return absl::FailedPreconditionError(absl::StrCat(
        absl::StrJoin(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        left.size() > shown ? absl::StrCat(" and ", left.size() - shown, " more") : "",
        ": would be locked out, with a certificate of the old authority; make others (muster keys ",
        left.front(), ") and bring them there, or revoke them"));
  }
  RETURN_IF_ERROR(Issue({CertificateRole::kController, ""}, true, now, life).status());
  RETURN_IF_ERROR(WriteFileAtomically(directory_ + "/ca.pem", own_, 0644));
  return SpreadTrust();
}

absl::Status KeyStore::Revoke(const CertificateSubject& subject) const {
  const std::string path = directory_ + "/revoked";
  const std::string list = ReadOrNothing(path);
  const std::string pem = absl::StrCat(Place(subject), "/", Name(subject.role), ".pem");
  const absl::StatusOr<KeptCertificate> there = Look(pem, list);
  if (!there.ok()) {
    return absl::NotFoundError(absl::StrCat(ToText(subject), ": no certificate in ", Place(subject),
                                            "; see muster keys list"));
  }
  if (there->revoked) {
    return absl::OkStatus();
  }
  return WriteFileAtomically(
      path, absl::StrCat(list, there->facts.serial, " ", ToText(subject), "\n"), 0600);
}

absl::StatusOr<std::vector<KeptCertificate>> KeyStore::List() const {
  const std::string revoked = ReadOrNothing(directory_ + "/revoked");
  std::vector<std::string> paths = {directory_ + "/controller.pem"};
  for (const char* role : {"agent", "client"}) {
    for (const std::string& name : EntriesOf(absl::StrCat(directory_, "/", role, "s"))) {
      paths.push_back(absl::StrCat(directory_, "/", role, "s/", name, "/", role, ".pem"));
    }
  }
  std::vector<KeptCertificate> all;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(KeptCertificate kept, Look(path, revoked));
    all.push_back(std::move(kept));
  }
  return all;
}

}  // namespace muster::cli
