#pragma once

// Where accounts and users stand: what fair share makes of an account tree.
//
// Made by core/share/fair_tree and core/share/classic_fairshare; the columns are those of Slurm's
// sshare. Invariant: `fairshare` and `rank` are of associations; accounts have none.

#include <cstdint>
#include <vector>

#include "scheduler/model/policy/decayed_usage.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/units.h"

namespace muster {

// A number from 0 to 1, in thousand-millionths: what priorities are made of.
using Factor = Amount<struct FactorTag, std::uint32_t>;
inline constexpr Factor kWholeFactor{1'000'000'000};

struct ShareStatus {
  DecayedUsage usage;        // with that of everything in it
  double norm_shares = 0;    // fair tree: among siblings; classic: of the whole tree
  double norm_usage = 0;     // of the whole tree's usage
  double effectv_usage = 0;  // fair tree: of the parent's usage; classic: U_E
  double level_fs = 0;       // fair tree: norm_shares / effectv_usage, or infinity; classic: 0
  std::uint32_t rank = 0;    // fair tree: the best has the number of associations; ties share
  Factor factor;             // for the priority: fairshare, rounded down
  double fairshare = 0;      // for people
  static constexpr auto Fields(auto list) {
    return list(Field{"usage", &ShareStatus::usage},
                Field{"norm_shares", &ShareStatus::norm_shares},
                Field{"norm_usage", &ShareStatus::norm_usage},
                Field{"effectv_usage", &ShareStatus::effectv_usage},
                Field{"level_fs", &ShareStatus::level_fs}, Field{"rank", &ShareStatus::rank},
                Field{"factor", &ShareStatus::factor}, Field{"fairshare", &ShareStatus::fairshare});
  }
  friend bool operator==(const ShareStatus&, const ShareStatus&) = default;
};

// One for each account and association, in the order of the tree that they were made from; and
// root's, which the tree need not list.
struct ShareStatuses {
  ShareStatus root;
  std::vector<ShareStatus> accounts;
  std::vector<ShareStatus> associations;
  static constexpr auto Fields(auto list) {
    return list(Field{"root", &ShareStatuses::root}, Field{"accounts", &ShareStatuses::accounts},
                Field{"associations", &ShareStatuses::associations});
  }
  friend bool operator==(const ShareStatuses&, const ShareStatuses&) = default;
};

}  // namespace muster
