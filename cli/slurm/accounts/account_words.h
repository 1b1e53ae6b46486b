#pragma once

// The words of `sacctmgr add`, `modify` and `delete` as what they ask for.
//
// Pure. Invariants: `names` has no name twice; a setting has the key that Muster's policy knows it
// by, and its sign ("qos+=a") begins the value.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/policy/policy.h"

namespace muster::cli::slurm {

enum class ManagerVerb { kAdd, kModify, kDelete };
enum class ManagedKind { kAccount, kUser, kQos };

struct ManagerRequest {
  ManagerVerb verb = ManagerVerb::kAdd;
  ManagedKind kind = ManagedKind::kAccount;
  std::vector<std::string> names;     // of accounts, users or QOS
  std::vector<std::string> accounts;  // of users: in which; empty: in all of theirs
  std::vector<std::string> clusters;  // empty: this one
  std::string default_account;        // of users; empty: not said
  std::vector<Assignment> settings;
  bool recorded_only = false;  // something was said that changes nothing here: Organization, Email
};

// Whether `word` is a beginning of one of sacctmgr's changing commands.
bool ReadManagerVerb(std::string_view word, ManagerVerb* verb);

// `words` follow the command. InvalidArgument: lines for stderr, as Slurm writes them.
absl::StatusOr<ManagerRequest> ReadManagerRequest(ManagerVerb verb,
                                                  const std::vector<std::string>& words);

}  // namespace muster::cli::slurm
