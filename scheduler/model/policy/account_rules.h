#pragma once

// Accounts and associations as they are kept: who belongs where, with which shares and limits.
//
// An account has a parent (the root account, which need not exist, above all); an association is a
// user in an account. The fairshare tree is made from these by name, parent and shares. Invariants
// of those in a cluster state (core/policy/policy_check): parents exist, no account is above
// itself, every association's account exists.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/policy/limits.h"
#include "scheduler/model/value/fields.h"

namespace muster {

// Shares "parent": Slurm's word for standing for one's parent.
inline constexpr std::uint32_t kSharesOfParent = 0x7fffffff;
inline constexpr const char* kRootAccountName = "root";

struct AccountRules {
  std::string name;
  std::string parent = kRootAccountName;  // of the root account itself: nothing
  std::uint32_t shares = 1;
  std::string description;
  std::vector<std::string> qos;  // those that its jobs may name; empty: the parent's, at last all
  std::string default_qos;
  Limits limits;
  bool configured = false;
  static constexpr auto Fields(auto list) {
    return list(
        Field{"name", &AccountRules::name}, Field{"parent", &AccountRules::parent},
        Field{"shares", &AccountRules::shares}, Field{"description", &AccountRules::description},
        Field{"qos", &AccountRules::qos}, Field{"default_qos", &AccountRules::default_qos},
        Field{"limits", &AccountRules::limits}, Field{"configured", &AccountRules::configured});
  }
  friend bool operator==(const AccountRules&, const AccountRules&) = default;
};

struct AssociationRules {
  std::string account;
  std::string user;
  std::uint32_t shares = 1;
  bool is_default = false;  // the user's account when none is named
  std::vector<std::string> qos;
  std::string default_qos;
  Limits limits;
  bool configured = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"account", &AssociationRules::account},
                Field{"user", &AssociationRules::user}, Field{"shares", &AssociationRules::shares},
                Field{"is_default", &AssociationRules::is_default},
                Field{"qos", &AssociationRules::qos},
                Field{"default_qos", &AssociationRules::default_qos},
                Field{"limits", &AssociationRules::limits},
                Field{"configured", &AssociationRules::configured});
  }
  friend bool operator==(const AssociationRules&, const AssociationRules&) = default;
};

}  // namespace muster
