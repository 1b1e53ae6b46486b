#include "scheduler/core/share/fair_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/unit/scheduler/core/many_cases.h"
#include "tests/unit/scheduler/core/share_trees.h"

namespace muster::core {
namespace {

using testing::AnyTree;
using testing::ByName;
using testing::DocumentedTree;
using ::testing::ElementsAre;
using testing::HoldsInManyCases;
using testing::InAccount;
using ::testing::Pair;
using testing::UserIn;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::map<std::string, double> Fairshares(const AccountTree& tree) {
  return ByName(tree, FairTree(tree), [](const ShareStatus& s) { return s.fairshare; });
}

std::map<std::string, std::uint32_t> Ranks(const AccountTree& tree) {
  return ByName(tree, FairTree(tree), [](const ShareStatus& s) { return s.rank; });
}

TEST(FairTree, TheDocumentedTree) {
  const AccountTree tree = DocumentedTree();
  const ShareStatuses statuses = FairTree(tree);
  const std::vector<double> level_fs = {0.6222, 1.6875, 0.45, 1.68, 0.4167, kInfinity};
  for (std::size_t i = 0; i < level_fs.size(); ++i) {
    EXPECT_THAT(statuses.accounts[i + 1].level_fs,
                std::isinf(level_fs[i])
                    ? ::testing::Eq(kInfinity)
                    : ::testing::Matcher<double>(::testing::DoubleNear(level_fs[i], 5e-5)))
        << tree.accounts[i + 1].name;
  }
  EXPECT_THAT(Fairshares(tree), ElementsAre(Pair("u1@B", 0.6), Pair("u2@C", 0.2), Pair("u3@C", 0.4),
                                            Pair("u4@E", 0.8), Pair("u5@F", 1.0)));
  EXPECT_EQ(statuses.associations[0].factor, Factor(600'000'000));
}

TEST(FairTree, TheColumnsAreThoseOfSshare) {
  const ShareStatuses statuses = FairTree(DocumentedTree());
  const ShareStatus& root = statuses.accounts[0];
  EXPECT_EQ(root.norm_shares, 1);
  EXPECT_EQ(root.norm_usage, 1);
  const ShareStatus& b = statuses.accounts[2];
  EXPECT_DOUBLE_EQ(b.norm_shares, 0.75);
  EXPECT_DOUBLE_EQ(b.norm_usage, 20.0 / 70);
  EXPECT_DOUBLE_EQ(b.effectv_usage, 20.0 / 45);
}

TEST(FairTree, AUserOfTwentyThreeWithAQuarterOfTheUsage) {
  AccountTree tree;
  tree.accounts = {InAccount("root", "lab", 1)};
  tree.associations = {UserIn("lab", "heavy", 1, 344), UserIn("lab", "rest", 1, 1032)};
  for (int i = 2; i < 23; ++i) {
    tree.associations.push_back(UserIn("lab", "u" + std::to_string(i), 1, 0));
  }
  const ShareStatus heavy = FairTree(tree).associations[0];
  EXPECT_NEAR(heavy.norm_shares, 0.043478, 5e-7);
  EXPECT_DOUBLE_EQ(heavy.effectv_usage, 0.25);
  EXPECT_NEAR(heavy.level_fs, 0.173913, 5e-7);
}

// Slurm 22.05 gives p1 1, p2 .75, q1 .75, q2 .25, or the mirror of it.
TEST(FairTree, ChildrenOfTiedAccountsAreRankedTogether) {
  const AccountTree tree = {.accounts = {InAccount("root", "P", 1), InAccount("root", "Q", 1)},
                            .associations = {UserIn("P", "p1", 1, 10), UserIn("P", "p2", 1, 30),
                                             UserIn("Q", "q1", 1, 5), UserIn("Q", "q2", 1, 35)}};
  EXPECT_THAT(Fairshares(tree), ElementsAre(Pair("p1@P", 0.75), Pair("p2@P", 0.5),
                                            Pair("q1@Q", 1.0), Pair("q2@Q", 0.25)));
}

TEST(FairTree, TiedUsersShareARankAndTheNextOneLosesIt) {
  const AccountTree tree = {
      .accounts = {},
      .associations = {UserIn("root", "a", 1, 10), UserIn("root", "b", 2, 20),
                       UserIn("root", "c", 1, 40), UserIn("root", "d", 1, 5)}};
  EXPECT_THAT(Ranks(tree), ElementsAre(Pair("a@root", 3), Pair("b@root", 3), Pair("c@root", 1),
                                       Pair("d@root", 4)));
}

TEST(FairTree, ATieThatBinaryFractionsCannotSeeIsATie) {
  // 1/3 of the shares and 1/3 of the usage against 2/3 and 2/3, with amounts that are no fractions
  // of two.
  AccountTree tree = {.accounts = {InAccount("root", "P", 7), InAccount("root", "Q", 7)},
                      .associations = {UserIn("P", "p1", 1, 100), UserIn("P", "p2", 2, 200),
                                       UserIn("Q", "q1", 3, 90), UserIn("Q", "q2", 7, 210)}};
  tree.associations[0].usage = UsageOf(100'000'000'000);  // 0.1, 0.2 and so on
  tree.associations[1].usage = UsageOf(200'000'000'000);
  tree.associations[2].usage = UsageOf(90'000'000'000);
  tree.associations[3].usage = UsageOf(210'000'000'000);
  EXPECT_THAT(Ranks(tree),
              ElementsAre(Pair("p1@P", 4), Pair("p2@P", 4), Pair("q1@Q", 4), Pair("q2@Q", 4)));
  tree.associations[3].usage = UsageOf(210'000'000'001);
  EXPECT_THAT(Ranks(tree),
              ElementsAre(Pair("p1@P", 4), Pair("p2@P", 4), Pair("q1@Q", 2), Pair("q2@Q", 1)));
}

TEST(FairTree, AUserTiedWithAnAccountSharesTheRankOfItsBestUser) {
  const AccountTree tree = {
      .accounts = {InAccount("root", "A", 2)},
      .associations = {UserIn("root", "alone", 1, 10), UserIn("A", "best", 1, 5),
                       UserIn("A", "worst", 1, 15), UserIn("root", "last", 1, 30)}};
  EXPECT_THAT(Ranks(tree), ElementsAre(Pair("alone@root", 4), Pair("best@A", 4),
                                       Pair("last@root", 1), Pair("worst@A", 2)));
}

TEST(FairTree, AnAccountWithNobodyInItTakesNoPartInTies) {
  // A's only other child is an empty account of infinite LF.
  AccountTree tree = {.accounts = {InAccount("root", "A", 2), InAccount("A", "empty", 1)},
                      .associations = {UserIn("root", "alone", 1, 10), UserIn("A", "best", 1, 20)}};
  EXPECT_THAT(Ranks(tree), ElementsAre(Pair("alone@root", 2), Pair("best@A", 2)));
  EXPECT_DOUBLE_EQ(FairTree(tree).associations[1].norm_shares, 0.5);
}

TEST(FairTree, NoSharesAreLastAndNoUsageIsFirst) {
  const AccountTree tree = {
      .accounts = {},
      .associations = {UserIn("root", "none", 0, 0), UserIn("root", "idle", 1, 0),
                       UserIn("root", "busy", 1, 10), UserIn("root", "banned", 0, 10)}};
  EXPECT_THAT(Ranks(tree), ElementsAre(Pair("banned@root", 2), Pair("busy@root", 3),
                                       Pair("idle@root", 4), Pair("none@root", 2)));
  const ShareStatuses statuses = FairTree(tree);
  EXPECT_EQ(statuses.associations[0].level_fs, 0);
  EXPECT_EQ(statuses.associations[1].level_fs, kInfinity);
}

TEST(FairTree, UsersWithParentSharesAreFirstInTheirAccountAndLeaveTheSharesAlone) {
  const AccountTree tree = {
      .accounts = {InAccount("root", "A", 1), InAccount("root", "B", 3)},
      .associations = {UserIn("A", "p", -1, 50), UserIn("A", "a", 1, 1), UserIn("B", "b", 2, 1)}};
  const ShareStatuses statuses = FairTree(tree);
  EXPECT_THAT(Ranks(tree), ElementsAre(Pair("a@A", 1), Pair("b@B", 3), Pair("p@A", 2)));
  EXPECT_EQ(statuses.associations[0].level_fs, kInfinity);
  EXPECT_EQ(statuses.associations[0].norm_shares, 0.25);  // A's
  EXPECT_EQ(statuses.associations[1].norm_shares, 1);
}

TEST(FairTree, ChildrenOfAnAccountWithParentSharesCompeteBesideItsSiblings) {
  const AccountTree through = {.accounts = {InAccount("root", "A", -1), InAccount("root", "B", 2)},
                               .associations = {UserIn("A", "a1", 1, 10), UserIn("A", "a2", 1, 30),
                                                UserIn("B", "b", 1, 40)}};
  const AccountTree beside = {
      .accounts = {InAccount("root", "B", 2)},
      .associations = {UserIn("root", "a1", 1, 10), UserIn("root", "a2", 1, 30),
                       UserIn("B", "b", 1, 40)}};
  const auto level_fs = [](const AccountTree& tree) {
    std::vector<double> values;
    for (const ShareStatus& status : FairTree(tree).associations) {
      values.push_back(status.level_fs);
    }
    return values;
  };
  EXPECT_EQ(level_fs(through), level_fs(beside));
  EXPECT_THAT(Ranks(through), ElementsAre(Pair("a1@A", 3), Pair("a2@A", 1), Pair("b@B", 2)));
}

TEST(FairTree, AnAccountKeepsTheUsageOfUsersWhoAreGone) {
  const AccountTree tree = {.accounts = {InAccount("root", "A", 1, 60)},
                            .associations = {UserIn("A", "a", 1, 20), UserIn("A", "b", 1, 20)}};
  EXPECT_DOUBLE_EQ(FairTree(tree).associations[0].effectv_usage, 0.2);
}

TEST(FairTree, WithoutUsersThereAreNoRanks) {
  EXPECT_TRUE(FairTree({}).associations.empty());
  EXPECT_EQ(FairTree({}).root.usage, DecayedUsage());
  EXPECT_EQ(FairTree({.accounts = {InAccount("root", "A", 1)}, .associations = {}}).accounts.size(),
            1U);
}

TEST(FairTree, AUserMayBeInSeveralAccounts) {
  const AccountTree tree = {.accounts = {InAccount("root", "A", 1), InAccount("root", "B", 1)},
                            .associations = {UserIn("A", "u", 1, 10), UserIn("B", "u", 1, 20)}};
  EXPECT_THAT(Ranks(tree), ElementsAre(Pair("u@A", 2), Pair("u@B", 1)));
}

// --- What holds of every tree --------------------------------------------------------------------

AccountTree Shuffled(AccountTree tree) {
  for (std::size_t i = tree.accounts.size(); i > 1; --i) {
    std::swap(tree.accounts[i - 1], tree.accounts[*rc::gen::inRange<std::size_t>(0, i)]);
  }
  for (std::size_t i = tree.associations.size(); i > 1; --i) {
    std::swap(tree.associations[i - 1], tree.associations[*rc::gen::inRange<std::size_t>(0, i)]);
  }
  return tree;
}

TEST(FairTreeProperty, TheOrderInWhichATreeIsWrittenDoesNotMatter) {
  HoldsInManyCases([] {
    const AccountTree tree = *AnyTree();
    const AccountTree other = Shuffled(tree);
    const auto all = [](const ShareStatus& status) { return status; };
    RC_ASSERT(ByName(tree, FairTree(tree), all) == ByName(other, FairTree(other), all));
  });
}

TEST(FairTreeProperty, RanksAreAboveZeroAndTheBestIsOne) {
  HoldsInManyCases([] {
    const AccountTree tree = *AnyTree();
    std::vector<std::uint32_t> ranks;
    for (const ShareStatus& status : FairTree(tree).associations) {
      RC_ASSERT(status.fairshare > 0 && status.fairshare <= 1);
      ranks.push_back(status.rank);
    }
    // Competition ranking: a rank is the number of those who are not better.
    std::sort(ranks.begin(), ranks.end(), std::greater<>());
    RC_ASSERT(ranks.front() == ranks.size());
    for (std::size_t i = 1; i < ranks.size(); ++i) {
      RC_ASSERT(ranks[i] == ranks[i - 1] || ranks[i] == ranks.size() - i);
    }
  });
}

TEST(FairTreeProperty, ScalingAllUsageChangesNothing) {
  HoldsInManyCases([] {
    const AccountTree tree = *AnyTree();
    const auto factor = *rc::gen::inRange<std::uint64_t>(2, 1'000'000);
    AccountTree scaled = tree;
    for (Account& account : scaled.accounts) {
      account.usage = UsageOf(AmountOf(account.usage) * factor);
    }
    for (Association& user : scaled.associations) {
      user.usage = UsageOf(AmountOf(user.usage) * factor);
    }
    RC_ASSERT(Ranks(tree) == Ranks(scaled));
  });
}

TEST(FairTreeProperty, InALevelOfItsOwnWhoeverUsedMorePerShareIsBehind) {
  HoldsInManyCases([] {
    AccountTree tree;
    const int users = *rc::gen::inRange(1, 9);
    for (int i = 0; i < users; ++i) {
      tree.associations.push_back(UserIn("root", "u" + std::to_string(i), *rc::gen::inRange(1, 5),
                                         *rc::gen::inRange(1U, 9U)));
    }
    const ShareStatuses statuses = FairTree(tree);
    for (std::size_t i = 0; i < tree.associations.size(); ++i) {
      for (std::size_t j = 0; j < tree.associations.size(); ++j) {
        const Association& a = tree.associations[i];
        const Association& b = tree.associations[j];
        const bool ahead =
            AmountOf(a.usage) * b.shares.value() < AmountOf(b.usage) * a.shares.value();
        RC_ASSERT(ahead == (statuses.associations[i].rank > statuses.associations[j].rank));
      }
    }
  });
}

}  // namespace
}  // namespace muster::core
