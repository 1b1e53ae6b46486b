#pragma once

// What `muster share --json` prints: one document, with a line for each user and account.
//
// Keys may be added, none renamed. Pure. Invariants: users and accounts come in the order of the
// tree; a level_fs without bound is the string "inf", because JSON has no such number, and one that
// does not exist is null.

#include <string>

#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/share_status.h"

namespace muster::cli {

// {"algorithm":"fair-tree","users":[{"user","account","norm_shares","norm_usage","level_fs",
// "fairshare","effectv_usage","rank"}],"accounts":[{"account","parent","norm_shares","norm_usage",
// "level_fs","effectv_usage"}]}. `algorithm` is fair-tree or classic.
std::string ShareDocument(const AccountTree& tree, const ShareStatuses& statuses,
                          const std::string& algorithm);

}  // namespace muster::cli
