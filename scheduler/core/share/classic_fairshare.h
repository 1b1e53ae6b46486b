#pragma once

// The classic fair-share factor of Slurm's multifactor plugin, F = 2^(-(U_E / S) / d).
//
// From slurm.schedmd.com/classic_fair_share.html. S: the product, from root down, of shares over
// the sum of the siblings' shares. U_A: usage over the whole tree's. U_E = U_A + (U_E of the
// account - U_A) * shares / sum of the siblings' shares, and U_E = U_A directly below root: an
// account's usage weighs on all who are in it. S = 0 gives 0; without any usage F is 1. A user with
// shares "parent" has the S and U_E of the account; an account with shares "parent" has its
// children compete beside its siblings. Invariants: every factor is from 0 to 1; the power is made
// of integers, so that it has the same bits on every machine.

#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/share_status.h"

namespace muster::core {

// `damping` is d (Slurm's FairShareDampeningFactor), 1 or more: the larger, the less usage weighs.
// Ranks and level_fs stay 0. REQUIRES: !CheckAccountTree(tree).
ShareStatuses ClassicFairshare(const AccountTree& tree, double damping = 1);

// 2^-x for x >= 0, infinity included.
double HalfPower(double x);

}  // namespace muster::core
