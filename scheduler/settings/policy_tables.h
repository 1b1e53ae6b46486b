#pragma once

// Policy in a configuration: [partition.NAME], [qos.NAME], [account.NAME], [user.NAME] and
// [reservation.NAME], with the keys of model/policy/policy_text in lower case and underscores.
//
// A user's table says its accounts and what holds in each of them: accounts = ["physics"],
// default_account = "physics". Invariants: every error begins with FILE:LINE.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/runtime/config_file.h"

namespace muster {

// The objects that the file names; marks their keys as known.
absl::StatusOr<std::vector<PolicyObject>> ReadPolicy(ConfigFile& file);

// What is wrong with the objects among those of `policy`, with the line that says it; OK otherwise.
absl::Status CheckPolicyFile(const ConfigFile& file, const SitePolicy& site,
                             const std::vector<PolicyObject>& objects);

}  // namespace muster
