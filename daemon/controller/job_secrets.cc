#include "daemon/controller/job_secrets.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/private_file.h"
#include "scheduler/runtime/mac.h"

namespace muster::daemon {

absl::StatusOr<JobSecrets> JobSecrets::Open(const std::string& path) {
  JobSecrets secrets;
  const absl::StatusOr<std::string> kept = ReadPrivateFile(path);
  if (kept.ok() && kept->size() == kMacBytes) {
    secrets.key_ = *kept;
    return secrets;
  }
  if (kept.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": not a key of ", kMacBytes, " bytes: put the right one back, or remove the file; ",
        "without it MPI jobs that are just being started fail"));
  }
  if (!absl::IsNotFound(kept.status())) {
    return kept.status();
  }
  ASSIGN_OR_RETURN(secrets.key_, RandomBytes(kMacBytes));
  RETURN_IF_ERROR(WriteFileAtomically(path, secrets.key_));
  return secrets;
}

std::string JobSecrets::ToText() const {
  return absl::BytesToHexString(key_);
}

absl::StatusOr<JobSecrets> JobSecrets::FromText(const std::string& text) {
  JobSecrets secrets;
  secrets.key_ = absl::HexStringToBytes(text);
  if (secrets.key_.size() != kMacBytes) {
    return absl::DataLossError(
        "the store's key for attempts is damaged: restore the database from a backup");
  }
  return secrets;
}

std::string JobSecrets::Of(JobId job, AttemptNumber attempt) const {
  if (key_.empty()) {
    return "";
  }
  return absl::BytesToHexString(
      MacOf(key_, {"attempt ", absl::StrCat(job.value(), ".", attempt.value())}));
}

}  // namespace muster::daemon
