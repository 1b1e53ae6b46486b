#pragma once

// The account tree as a table, as Slurm's `sshare -l` draws it: accounts indented, users below
// theirs.
//
// Pure. Invariants: root is the first line, listed or not; below an account come its users, then
// its accounts, each in the order of the tree.

#include <string>

#include "cli/page/style.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/share_status.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// How usage is to be read (core/share/decay.h), and whether levels have a fairshare of their own.
struct ShareTableChoice {
  Time at = kNoTime;
  Duration half_life{0};
  bool level_fs = true;
};

// REQUIRES: the statuses are the tree's.
std::string PrintShares(const AccountTree& tree, const ShareStatuses& statuses,
                        const ShareTableChoice& choice, const Style& style);

}  // namespace muster::cli
