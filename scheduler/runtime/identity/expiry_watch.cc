#include "scheduler/runtime/identity/expiry_watch.h"

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"

namespace muster {

std::string ExpiryWatch::Look(Time now) {
  if (path_.empty() || now - looked_ < kEvery) {
    return "";
  }
  looked_ = now;
  const absl::StatusOr<std::string> text = ReadFile(path_);
  const absl::StatusOr<CertificateFacts> facts =
      text.ok() ? ReadCertificate(*text) : absl::StatusOr<CertificateFacts>(text.status());
  return facts.ok() ? ExpiryWarning(*facts, now)
                    : absl::StrCat(path_, ": ", std::string(facts.status().message()));
}

}  // namespace muster
