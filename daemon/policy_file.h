#pragma once

// Policy in the configuration: [partition.NAME], [qos.NAME], [account.NAME], [user.NAME] and
// [reservation.NAME], with the keys of model/policy_text in lower case and underscores.
//
// A user's table says its accounts and what holds in each of them: accounts = ["physics"],
// default_account = "physics". Thread promise: ReadPolicy is pure; ApplyPolicyFile blocks its
// thread until the change is durable. Invariants: every error begins with FILE:LINE; a file with
// one mistake changes nothing.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/controller.h"
#include "scheduler/model/policy.h"
#include "scheduler/runtime/config_file.h"

namespace muster {

// The objects that the file names; marks their keys as known.
absl::StatusOr<std::vector<PolicyObject>> ReadPolicy(ConfigFile& file);

// What is wrong with the objects among those of `book`, with the line that says it; OK otherwise.
absl::Status CheckPolicyFile(const ConfigFile& file, const PolicyBook& book,
                             const std::vector<PolicyObject>& objects);

// Reads the whole configuration at `path` again and makes its policy the controller's.
absl::Status ApplyPolicyFile(const std::string& path, Controller& controller, const User& by);

// The same when asked by signal: says in the log what came of it; one with a mistake leaves the old
// configuration in force.
void ReloadPolicy(const std::string& path, Controller& controller, const Logger& log);

}  // namespace muster
