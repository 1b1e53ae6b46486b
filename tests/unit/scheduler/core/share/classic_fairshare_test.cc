#include "scheduler/core/share/classic_fairshare.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "tests/unit/scheduler/core/share_trees.h"

namespace muster::core {
namespace {

using testing::AnyTree;
using testing::DocumentedTree;
using testing::InAccount;
using testing::UserIn;

TEST(ClassicFairshare, TheDocumentedExample) {
  // Users who are gone used 30 of 100.
  const ShareStatuses statuses = ClassicFairshare(DocumentedTree(30));
  EXPECT_NEAR(statuses.accounts[2].effectv_usage, 0.3875, 1e-12);    // B
  EXPECT_NEAR(statuses.accounts[3].effectv_usage, 0.3, 1e-12);       // C
  EXPECT_NEAR(statuses.accounts[5].effectv_usage, 0.25, 1e-12);      // E
  EXPECT_NEAR(statuses.accounts[6].effectv_usage, 0.1458333, 5e-8);  // F
  const double usage[] = {0.3875, 0.275, 0.15, 0.25, 0.1458333};
  const double fairshare[] = {0.408479, 0.022097, 0.125, 0.5, 0.749154};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(statuses.associations[i].effectv_usage, usage[i], 5e-8) << i;
    EXPECT_NEAR(statuses.associations[i].fairshare, fairshare[i], 5e-7) << i;
    EXPECT_EQ(statuses.associations[i].factor.value(),
              std::floor(statuses.associations[i].fairshare * 1e9));
  }
}

TEST(ClassicFairshare, WhoeverUsedTheirShareHasAHalf) {
  const AccountTree tree = {
      .accounts = {}, .associations = {UserIn("root", "a", 3, 75), UserIn("root", "b", 1, 25)}};
  EXPECT_DOUBLE_EQ(ClassicFairshare(tree).associations[0].fairshare, 0.5);
  EXPECT_DOUBLE_EQ(ClassicFairshare(tree).associations[1].fairshare, 0.5);
  EXPECT_DOUBLE_EQ(ClassicFairshare(tree, 2).associations[0].fairshare, std::sqrt(0.5));
}

TEST(ClassicFairshare, NoSharesAreZeroAndNoUsageIsOne) {
  const AccountTree tree = {.accounts = {},
                            .associations = {UserIn("root", "a", 0, 0), UserIn("root", "b", 1, 0)}};
  EXPECT_EQ(ClassicFairshare(tree).associations[0].fairshare, 0);
  EXPECT_EQ(ClassicFairshare(tree).associations[1].fairshare, 1);
  EXPECT_TRUE(ClassicFairshare({}).associations.empty());
}

TEST(ClassicFairshare, UsersWithParentSharesHaveWhatTheirAccountHas) {
  const AccountTree tree = {.accounts = {InAccount("root", "A", 1), InAccount("root", "B", 1)},
                            .associations = {UserIn("A", "x", -1, 10), UserIn("A", "y", -1, 30),
                                             UserIn("B", "z", 1, 60)}};
  const ShareStatuses statuses = ClassicFairshare(tree);
  EXPECT_DOUBLE_EQ(statuses.associations[0].effectv_usage, 0.4);
  EXPECT_DOUBLE_EQ(statuses.associations[0].norm_shares, 0.5);
  EXPECT_EQ(statuses.associations[0].fairshare, statuses.associations[1].fairshare);
}

TEST(ClassicFairshare, PowersOfAHalfAreThoseOfTheLibrary) {
  for (double x = 0; x < 1100; x += 0.37) {
    EXPECT_DOUBLE_EQ(HalfPower(x), std::exp2(-x)) << x;
  }
  EXPECT_EQ(HalfPower(std::numeric_limits<double>::infinity()), 0);
}

TEST(ClassicFairshareProperty, EveryFactorIsFromZeroToOne) {
  EXPECT_TRUE(rc::check([] {
    const AccountTree tree = *AnyTree();
    for (const ShareStatus& status : ClassicFairshare(tree).associations) {
      RC_ASSERT(status.fairshare >= 0 && status.fairshare <= 1);
      RC_ASSERT(status.factor <= kWholeFactor);
      RC_ASSERT(status.effectv_usage > -1e-12 && status.effectv_usage < 1 + 1e-12);
    }
  }));
}

}  // namespace
}  // namespace muster::core
