#pragma once

// Account trees for the tests of fair share: written by hand, and by chance.
//
// Header-only; values only. Invariant: usage is in whole billing-seconds, shares of -1 are
// "parent".

#include <rapidcheck.h>

#include <map>
#include <string>
#include <vector>

#include "scheduler/core/share/decay.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/share_status.h"

namespace muster::core::testing {

inline ShareCount SharesOf(int shares) {
  return shares < 0 ? kParentShares : ShareCount(static_cast<std::uint32_t>(shares));
}

inline DecayedUsage Seconds(std::uint64_t seconds) {
  return UsageOf(absl::uint128(seconds) * kGrainsPerSecond);
}

inline Account InAccount(const std::string& parent, const std::string& name, int shares,
                         std::uint64_t usage = 0) {
  return {.name = name, .parent = parent, .shares = SharesOf(shares), .usage = Seconds(usage)};
}

inline Association UserIn(const std::string& account, const std::string& user, int shares,
                          std::uint64_t usage) {
  return {.user = user, .account = account, .shares = SharesOf(shares), .usage = Seconds(usage)};
}

// The example of Slurm's documentation, with usage in hundredths of the cluster; `gone` is what
// users used who are there no more.
inline AccountTree DocumentedTree(std::uint64_t gone = 0) {
  return {
      .accounts = {InAccount("", "root", 1, gone), InAccount("root", "A", 40),
                   InAccount("A", "B", 30), InAccount("A", "C", 10), InAccount("root", "D", 60),
                   InAccount("D", "E", 25), InAccount("D", "F", 35)},
      .associations = {UserIn("B", "u1", 1, 20), UserIn("C", "u2", 1, 25), UserIn("C", "u3", 1, 0),
                       UserIn("E", "u4", 1, 25), UserIn("F", "u5", 1, 0)}};
}

// What a function of an association gives, by "user@account".
template <class Get>
auto ByName(const AccountTree& tree, const ShareStatuses& statuses, Get get) {
  std::map<std::string, decltype(get(ShareStatus()))> values;
  for (std::size_t i = 0; i < tree.associations.size(); ++i) {
    const Association& user = tree.associations[i];
    values[user.user + "@" + user.account] = get(statuses.associations[i]);
  }
  return values;
}

// A tree of up to nine accounts and twelve associations. Small numbers, so that ties are common.
inline rc::Gen<AccountTree> AnyTree() {
  return rc::gen::exec([] {
    AccountTree tree;
    const int accounts = *rc::gen::inRange(0, 10);
    for (int i = 0; i < accounts; ++i) {
      const int parent = *rc::gen::inRange(-1, i);
      tree.accounts.push_back(InAccount(parent < 0 ? "root" : "a" + std::to_string(parent),
                                        "a" + std::to_string(i), *rc::gen::inRange(-1, 4),
                                        *rc::gen::elementOf(std::vector<unsigned>{0, 0, 0, 2})));
    }
    const int users = *rc::gen::inRange(1, 13);
    for (int i = 0; i < users; ++i) {
      const int account = *rc::gen::inRange(-1, accounts);
      tree.associations.push_back(UserIn(account < 0 ? "root" : "a" + std::to_string(account),
                                         "u" + std::to_string(i), *rc::gen::inRange(-1, 4),
                                         *rc::gen::inRange(0U, 4U)));
    }
    return tree;
  });
}

}  // namespace muster::core::testing
