#pragma once

// What a change that sacctmgr is asked for means: the changes of Muster's policy, and Slurm's lines
// about them.
//
// Pure. Invariants: without steps nothing would change; the steps, in their order, leave no
// association without its account and no user with two defaults.

#include <string>
#include <vector>

#include "cli/slurm/accounts/account_words.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/policy/policy_view.h"

namespace muster::cli::slurm {

struct PolicyStep {
  PolicyVerb verb = PolicyVerb::kAdd;
  PolicyKind kind = PolicyKind::kAccount;
  std::string name;
  std::vector<Assignment> assignments;
  friend bool operator==(const PolicyStep&, const PolicyStep&) = default;
};

struct ManagerPlan {
  std::vector<PolicyStep> steps;
  std::string text;     // what is said of them before they are made
  std::string problem;  // why nothing can be done: lines for stderr; empty: it can
};

// `objects`: the accounts, associations and QOS that there are.
ManagerPlan PlanOf(const ManagerRequest& request, const std::vector<PolicyView>& objects,
                   const std::string& cluster);

}  // namespace muster::cli::slurm
