#pragma once

// Who may change a job, and the refusals that every request about a job shares.
//
// Invariants: an administrator (root, or the user who runs the controller) may change every job and
// act in it as its owner; an operator by the site's settings may change every job, a coordinator
// those of the accounts; other users only their own.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/contains.h"
#include "scheduler/model/change/actor.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

inline bool IsAdministrator(const User& by, const SchedulerConfig& config) {
  return by.uid == 0 || by.uid == config.operator_uid;
}

inline bool IsOperator(const Actor& by, const SchedulerConfig& config) {
  return by.operates || IsAdministrator(by, config);
}

// Whether the account is one of `coordinated`, or below one.
inline bool IsBelow(const SitePolicy& site, const std::string& account,
                    const std::vector<std::string>& coordinated) {
  if (coordinated.empty() || account.empty()) {
    return false;
  }
  const std::vector<std::string> chain = AccountChain(site, account);
  return std::any_of(chain.begin(), chain.end(), [&coordinated](const std::string& each) {
    return Contains(coordinated, each);
  });
}

inline bool MayChange(const Job& job, const Actor& by, const SchedulerConfig& config,
                      const SitePolicy& site) {
  return IsOperator(by, config) || by.uid == job.spec->user.uid ||
         IsBelow(site, job.spec->account, by.coordinates);
}

// Whether a program of theirs may run in the job, as its owner.
inline bool MayEnter(const Job& job, const User& by, const SchedulerConfig& config) {
  return IsAdministrator(by, config) || by.uid == job.spec->user.uid;
}

inline absl::Status CheckToken(const std::string& token) {
  constexpr std::size_t kTokenBytesMax = 64;
  if (token.empty() || token.size() > kTokenBytesMax) {
    return absl::InvalidArgumentError("token: the client must send one of 1 to 64 bytes");
  }
  return absl::OkStatus();
}

inline absl::Status NotYours(const Job& job, const Actor& by) {
  return absl::PermissionDeniedError(
      absl::StrCat("job ", ToString(job.id), ": ",
                   by.told_owners ? "belongs to " + job.spec->user.name : "is not yours"));
}

}  // namespace muster::core
