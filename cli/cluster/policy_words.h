#pragma once

// The arguments of `muster qos` and its sisters: an action, a name, and KEY=VALUE words.
//
// Pure; errors as in number.h. Invariants: a key is one of the kind's; times of reservations are in
// UTC; "KEY+=X" and "KEY-=X" are values "+X" and "-X".

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

enum class PolicyAction { kList, kShow, kAdd, kSet, kDelete, kHistory };

struct PolicyWords {
  PolicyAction action = PolicyAction::kList;
  PolicyKind kind = PolicyKind::kPartition;  // kAssociation when a user is named in an account
  std::vector<std::string> names;            // one for what changes something
  std::vector<Assignment> assignments;
};

// `kind` is the verb's; words are what follows it.
absl::StatusOr<PolicyWords> ParsePolicyWords(PolicyKind kind, const std::vector<std::string>& words,
                                             Time now, absl::TimeZone zone);

}  // namespace muster::cli
