#pragma once

// The account tree: who may use how much of the cluster, and who did.
//
// Names and meanings are Slurm's: an association is a pair of user and account, so that a user may
// be in several accounts; shares are of what the parent has. Invariants of a tree that
// CheckAccountTree (core/share/account_tree.h) passed: (1) names of accounts are unique and so are
// associations; (2) every parent is there, and following parents ends at "root", which need not be
// listed, after 64 steps at most; (3) all amounts of usage are of one kind: they are comparable
// once brought to one period.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/policy/decayed_usage.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/units.h"

namespace muster {

using ShareCount = Amount<struct ShareTag, std::uint32_t>;

// Shares "parent" (Slurm's SLURMDB_FS_USE_PARENT): of a user, that the account stands for it; of an
// account, that its children compete beside its siblings as if it were not there.
inline constexpr ShareCount kParentShares{0x7fffffff};
inline constexpr ShareCount kSharesMax{0x7ffffffe};

inline constexpr const char* kRootAccount = "root";
inline constexpr std::size_t kAccountDepthMax = 64;  // accounts below root, on one path

struct Account {
  std::string name;
  std::string parent = kRootAccount;  // of "root" itself: nothing, or "root"
  ShareCount shares{1};
  DecayedUsage usage;  // of associations that are gone; the others' is not in it
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &Account::name}, Field{"parent", &Account::parent},
                Field{"shares", &Account::shares}, Field{"usage", &Account::usage});
  }
  friend bool operator==(const Account&, const Account&) = default;
};

struct Association {
  std::string user;
  std::string account;
  ShareCount shares{1};
  DecayedUsage usage;
  static constexpr auto Fields(auto list) {
    return list(Field{"user", &Association::user}, Field{"account", &Association::account},
                Field{"shares", &Association::shares}, Field{"usage", &Association::usage});
  }
  friend bool operator==(const Association&, const Association&) = default;
};

// What a user in an account has used, as it is kept; the root account and "" are one.
struct AccountUsage {
  std::string account;
  std::string user;
  DecayedUsage usage;
  static constexpr auto Fields(auto list) {
    return list(Field{"account", &AccountUsage::account}, Field{"user", &AccountUsage::user},
                Field{"usage", &AccountUsage::usage});
  }
  friend bool operator==(const AccountUsage&, const AccountUsage&) = default;
};

struct AccountTree {
  std::vector<Account> accounts;
  std::vector<Association> associations;
  static constexpr auto Fields(auto list) {
    return list(Field{"accounts", &AccountTree::accounts},
                Field{"associations", &AccountTree::associations});
  }
  friend bool operator==(const AccountTree&, const AccountTree&) = default;
};

}  // namespace muster
