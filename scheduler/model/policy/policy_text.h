#pragma once

// Policy in words: one table of keys with Slurm's names, for the command line
// (MaxTRESPerUser=cpu=4) and the configuration (max_tres_per_user = "cpu=4") alike.
//
// Pure. Invariants: (1) what Describe says, Assign reads back; (2) keys are matched whatever their
// case and underscores; (3) errors begin with the key.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/policy/policy.h"

namespace muster {

inline constexpr std::size_t kPolicyNameBytesMax = 64;

// Refuses what cannot be a name of a policy object, a user or an account.
absl::Status CheckPolicyName(const std::string& name);

// Sets one property. InvalidArgument "KEY: PROBLEM" leaves the object as it was. "-1", "UNLIMITED"
// or nothing takes a limit away; "+=" and "-=" of lists come as "+a,b" and "-a,b".
absl::Status Assign(PolicyObject& object, const Assignment& assignment);

// Every property that is not at its default, by the table's names.
std::vector<Assignment> Describe(const PolicyObject& object);
// What `after` says that `before` does not: "MaxJobs=4 (was 2), GrpTRES= (was cpu=8)".
std::string DescribeChange(const PolicyObject& before, const PolicyObject& after);

// The table's name of a key however it was written; "" when there is none.
std::string PolicyKey(PolicyKind kind, const std::string& key);
// The assignments in the table's order: a start before a duration, whatever the writer's order.
std::vector<Assignment> InTableOrder(PolicyKind kind, std::vector<Assignment> assignments);
// All of the kind's names, in the table's order.
std::vector<std::string> PolicyKeys(PolicyKind kind);

}  // namespace muster
