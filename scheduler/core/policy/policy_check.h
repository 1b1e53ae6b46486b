#pragma once

// What a policy may not say: unknown names, circles, limits that contradict one another.
//
// Used by the handlers that change policy and, with the line of the file, by the configuration.
// Invariants: a policy without a problem holds the invariants of model/policy/partition,
// account_rules and reservation.

#include <optional>
#include <string>

#include "scheduler/model/policy/policy.h"

namespace muster::core {

struct PolicyProblem {
  PolicyKind kind = PolicyKind::kPartition;
  std::string name;
  std::string key;   // of the table in model/policy/policy_text; "" concerns the whole object
  std::string text;  // what is wrong, and the mend
};

// "qos high: Preempt: there is no QOS lwo".
std::string ToSentence(const PolicyProblem& problem);

// The first problem, in the order of kinds and names.
std::optional<PolicyProblem> FindProblem(const SitePolicy& site);

}  // namespace muster::core
