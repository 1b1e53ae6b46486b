#include "scheduler/core/share/account_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>

#include "scheduler/core/share/fair_tree.h"
#include "tests/unit/scheduler/core/share_trees.h"

namespace muster::core {
namespace {

using testing::AnyTree;
using testing::DocumentedTree;
using testing::InAccount;
using testing::Seconds;
using testing::UserIn;

// "accounts/3/parent: …", or "" for a good tree.
std::string Fault(const AccountTree& tree) {
  const std::optional<TreeFault> fault = CheckAccountTree(tree);
  return fault ? (fault->of_account ? "accounts/" : "users/") + std::to_string(fault->index) + "/" +
                     fault->field + ": " + fault->text
               : "";
}

TEST(AccountTree, GoodTreesPass) {
  EXPECT_EQ(Fault({}), "");
  EXPECT_EQ(Fault(DocumentedTree()), "");
  EXPECT_TRUE(rc::check([] { RC_ASSERT(Fault(*AnyTree()).empty()); }));
}

TEST(AccountTree, WhatIsMissingIsNamed) {
  EXPECT_EQ(Fault({.accounts = {InAccount("nowhere", "A", 1)}, .associations = {}}),
            "accounts/0/parent: no account \"nowhere\": add it, or name another parent");
  EXPECT_EQ(Fault({.accounts = {}, .associations = {UserIn("A", "u", 1, 0)}}),
            "users/0/account: no account \"A\": add it, or name another");
  EXPECT_EQ(Fault({.accounts = {InAccount("root", "", 1)}, .associations = {}}),
            "accounts/0/name: an account without a name: give it one");
  EXPECT_EQ(Fault({.accounts = {}, .associations = {UserIn("root", "", 1, 0)}}),
            "users/0/user: a user without a name: give it one");
}

TEST(AccountTree, WhatIsThereTwiceIsNamed) {
  EXPECT_EQ(Fault({.accounts = {InAccount("root", "A", 1), InAccount("root", "A", 2)},
                   .associations = {}}),
            "accounts/1/name: account \"A\" is there twice: leave one of them out");
  EXPECT_EQ(
      Fault({.accounts = {InAccount("", "root", 1), InAccount("", "root", 1)}, .associations = {}}),
      "accounts/1/name: account \"root\" is there twice: leave one of them out");
  EXPECT_EQ(Fault({.accounts = {},
                   .associations = {UserIn("root", "u", 1, 0), UserIn("root", "u", 2, 0)}}),
            "users/1/user: user \"u\" is in account \"root\" twice: leave one of them out");
}

TEST(AccountTree, CirclesAreFoundWhereverTheyHang) {
  EXPECT_EQ(Fault({.accounts = {InAccount("A", "A", 1)}, .associations = {}}),
            "accounts/0/parent: account \"A\" is below itself: name a parent that is not below it");
  EXPECT_EQ(Fault({.accounts = {InAccount("B", "tail", 1), InAccount("root", "good", 1),
                                InAccount("C", "B", 1), InAccount("B", "C", 1)},
                   .associations = {}}),
            "accounts/2/parent: account \"B\" is below itself: name a parent that is not below it");
}

TEST(AccountTree, RootHasNoParent) {
  EXPECT_EQ(Fault({.accounts = {InAccount("A", "root", 1), InAccount("root", "A", 1)},
                   .associations = {}}),
            "accounts/0/parent: root with a parent: leave it out");
  EXPECT_EQ(Fault({.accounts = {InAccount("root", "root", 1)}, .associations = {}}), "");
}

TEST(AccountTree, SixtyFourLevelsAreTheMost) {
  AccountTree tree;
  for (int i = 0; i < 64; ++i) {
    tree.accounts.push_back(
        InAccount(i == 0 ? "root" : "a" + std::to_string(i - 1), "a" + std::to_string(i), 1));
  }
  tree.associations = {UserIn("a63", "u", 1, 10)};
  EXPECT_EQ(Fault(tree), "");
  EXPECT_EQ(FairTree(tree).associations[0].fairshare, 1);
  tree.accounts.push_back(InAccount("a63", "a64", 1));
  EXPECT_EQ(Fault(tree),
            "accounts/64/parent: account \"a64\" is more than 64 levels below root: name a parent "
            "nearer to root");
}

TEST(AccountTree, NumbersBeyondBoundsAreNamed) {
  AccountTree tree = {.accounts = {InAccount("root", "A", 1)},
                      .associations = {UserIn("A", "u", 1, 0)}};
  tree.associations[0].shares = ShareCount(0x8000'0000);
  EXPECT_EQ(Fault(tree), "users/0/shares: more shares than can be had: use at most 2147483646");
  tree.associations[0].shares = kSharesMax;
  tree.accounts[0].usage.high = kUsageHighMax;
  EXPECT_EQ(Fault(tree), "");
  tree.accounts[0].usage.high = kUsageHighMax + 1;
  EXPECT_EQ(Fault(tree), "accounts/0/usage: more usage than can be: use less than 2 * 10^19");
}

TEST(AccountTree, TheLargestNumbersAreStillComparedExactly) {
  const std::uint64_t high = kUsageHighMax;
  AccountTree tree = {.accounts = {InAccount("root", "P", 1), InAccount("root", "Q", 1)},
                      .associations = {}};
  for (const char* account : {"P", "Q"}) {
    for (const char* user : {"x", "y"}) {
      tree.associations.push_back({.user = user,
                                   .account = account,
                                   .shares = kSharesMax,
                                   .usage = {.period = 0, .high = high, .low = ~0ULL}});
    }
  }
  const ShareStatuses tied = FairTree(tree);
  EXPECT_EQ(tied.associations[0].rank, 4U);
  EXPECT_EQ(tied.associations[3].rank, 4U);
  tree.associations[0].usage.low -= 1;  // P is ahead now
  const ShareStatuses statuses = FairTree(tree);
  EXPECT_EQ(statuses.associations[0].rank, 4U);
  EXPECT_EQ(statuses.associations[1].rank, 3U);
  EXPECT_EQ(statuses.associations[2].rank, 2U);
}

TEST(AccountTree, UsageOfDifferentPeriodsIsBroughtToOne) {
  AccountTree tree = {.accounts = {},
                      .associations = {UserIn("root", "old", 1, 0), UserIn("root", "new", 1, 0)}};
  tree.associations[0].usage = UsageOf(absl::uint128(3) << 16, 7);
  tree.associations[1].usage = UsageOf(3, 8);
  const ShareTree indexed = IndexTree(tree);
  EXPECT_EQ(indexed.nodes[1].usage, 3U);
  EXPECT_EQ(indexed.nodes[2].usage, 3U);
  EXPECT_EQ(indexed.nodes[0].usage, 6U);
}

TEST(AccountTree, RootsUsageIsThatOfAll) {
  EXPECT_TRUE(rc::check([] {
    const AccountTree tree = *AnyTree();
    absl::uint128 sum = 0;
    for (const Account& account : tree.accounts) {
      sum += AmountOf(account.usage);
    }
    for (const Association& user : tree.associations) {
      sum += AmountOf(user.usage);
    }
    const ShareTree indexed = IndexTree(tree);
    RC_ASSERT(indexed.nodes[0].usage == sum);
    RC_ASSERT(indexed.nodes[0].users == tree.associations.size());
  }));
}

}  // namespace
}  // namespace muster::core
