#pragma once

// Fair Tree: fair share by rank, as Slurm documents it (slurm.schedmd.com/fair_tree.html; Cox and
// Morrison, Brigham Young University, 2014).
//
// Among siblings S = shares / sum of shares, U = usage / parent's usage, and LF = S / U: S = 0
// gives 0, then U = 0 gives infinity, and so does a user with shares "parent". The tree is walked
// depth first, siblings by LF from the highest; users get the ranks n, n-1, … 1, and fairshare is
// rank / n, where n is the number of associations. Ties: users of equal LF share a rank; a user
// comes before the accounts of equal LF and the best user of those shares its rank; accounts of
// equal LF are merged: their children are ranked as siblings of one another, each by the LF that it
// has among its own. So a rank depends on the tree and not on the order in which it is written.
//
// Where this differs from Slurm 22.05: (1) its merge of tied accounts never happens, because
// _count_tied_accounts() stops at the first account, so that there the order of an unstable sort
// decides; (2) an account without users takes no part in ties. As Slurm's code does, and not its
// text, U is of the parent's usage, which holds that of users who are gone. LFs are compared as
// fractions of integers, exactly.

#include "scheduler/core/share/account_tree.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/share_status.h"

namespace muster::core {

// REQUIRES: !CheckAccountTree(tree).
ShareStatuses FairTree(const AccountTree& tree);

// rank / count as a factor, rounded down. REQUIRES: rank <= count.
Factor RankFactor(std::uint32_t rank, std::size_t count);

}  // namespace muster::core
