#pragma once

// What `sacctmgr dump` writes: the account tree as lines that `sacctmgr load` of Slurm and
// `muster import` read.
//
// Pure. Invariant: an account stands before what is below it.

#include <string>
#include <vector>

#include "scheduler/model/policy/policy_view.h"

namespace muster::cli::slurm {

// `objects`: accounts and associations.
std::string ClusterDump(const std::vector<PolicyView>& objects, const std::string& cluster);

}  // namespace muster::cli::slurm
