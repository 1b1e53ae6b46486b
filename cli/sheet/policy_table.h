#pragma once

// Pages of policy: tables of objects, the tree of accounts, one object in full, the history.
//
// Pure. Invariants: what is at its default is left out of an object's line; an account stands above
// its users and the accounts below it.

#include <string>
#include <vector>

#include "cli/page/style.h"
#include "scheduler/model/policy/policy_view.h"

namespace muster::cli {

// Partitions, QOS or reservations, a line each.
std::string PrintPolicy(const std::vector<PolicyView>& objects, bool header, const Style& style);
// Accounts and their users, indented below their parents.
std::string PrintAccounts(const std::vector<PolicyView>& objects, bool header, const Style& style);
// One object: every property on a line of its own.
std::string PrintPolicySheet(const PolicyView& object, const Style& style);
std::string PrintPolicyHistory(const std::vector<PolicyChangeView>& changes, bool header,
                               const Style& style);

}  // namespace muster::cli
