#pragma once

// Who may change a job, and the refusals that every request about a job shares.
//
// Invariants: an operator (root, or the user who runs the controller) may change every job; other
// users only their own.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

inline bool IsOperator(const User& by, const SchedulerConfig& config) {
  return by.uid == 0 || by.uid == config.operator_uid;
}

inline bool MayChange(const Job& job, const User& by, const SchedulerConfig& config) {
  return IsOperator(by, config) || by.uid == job.spec->user.uid;
}

inline absl::Status CheckToken(const std::string& token) {
  constexpr std::size_t kTokenBytesMax = 64;
  if (token.empty() || token.size() > kTokenBytesMax) {
    return absl::InvalidArgumentError("token: the client must send one of 1 to 64 bytes");
  }
  return absl::OkStatus();
}

inline absl::Status NotYours(const Job& job) {
  return absl::PermissionDeniedError(
      absl::StrCat("job ", ToString(job.id), ": belongs to ", job.spec->user.name));
}

}  // namespace muster::core
