#include "scheduler/model/policy/account.h"

#include <gtest/gtest.h>

#include <set>

#include "scheduler/model/policy/priority.h"
#include "scheduler/model/policy/share_status.h"
#include "scheduler/model/policy/tres_weight.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster {
namespace {

template <class T>
std::uint64_t HashOf(const T& value) {
  return Fingerprint().Add(value).value();
}

TEST(Account, EveryFieldOfATreeIsSeen) {
  const Account account;
  std::set<std::uint64_t> hashes = {HashOf(account)};
  for (const Account& other :
       {Account{.name = "a", .parent = kRootAccount, .shares = ShareCount(1), .usage = {}},
        Account{.name = "", .parent = "a", .shares = ShareCount(1), .usage = {}},
        Account{.name = "", .parent = kRootAccount, .shares = kParentShares, .usage = {}},
        Account{.name = "",
        .parent = kRootAccount,
        .shares = ShareCount(1),
        .usage = {.period = 1, .high = 0, .low = 0}},
        Account{.name = "",
        .parent = kRootAccount,
        .shares = ShareCount(1),
        .usage = {.period = 0, .high = 1, .low = 0}},
        Account{.name = "",
        .parent = kRootAccount,
        .shares = ShareCount(1),
        .usage = {.period = 0, .high = 0, .low = 1}}}) {
    EXPECT_TRUE(hashes.insert(HashOf(other)).second);
    EXPECT_NE(other, account);
  }
  EXPECT_NE(HashOf(Association{.user = "u", .account = "a", .shares = ShareCount(1), .usage = {}}),
            HashOf(Association{.user = "a", .account = "u", .shares = ShareCount(1), .usage = {}}));
  AccountTree tree;
  tree.accounts.push_back(account);
  EXPECT_NE(HashOf(tree), HashOf(AccountTree()));
}

TEST(Account, ParentSharesAreNoNumberOfShares) {
  EXPECT_GT(kParentShares.value(), kSharesMax.value());
}

TEST(Account, ValuesNameAllTheirMembers) {
  EXPECT_EQ(kFieldCount<Account>, 4U);
  EXPECT_EQ(kFieldCount<Association>, 4U);
  EXPECT_EQ(kFieldCount<DecayedUsage>, 3U);
  EXPECT_EQ(kFieldCount<ChargedRun>, 4U);
  EXPECT_EQ(kFieldCount<UsageReceipt>, 3U);
  EXPECT_EQ(kFieldCount<TresWeight>, 3U);
  EXPECT_EQ(kFieldCount<PriorityTerm>, 4U);
  EXPECT_EQ(kFieldCount<ShareStatuses>, 3U);
}

}  // namespace
}  // namespace muster
