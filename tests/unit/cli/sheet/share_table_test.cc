#include "cli/sheet/share_table.h"

#include <gtest/gtest.h>

#include "scheduler/core/share/decay.h"
#include "scheduler/core/share/fair_tree.h"

namespace muster::cli {
namespace {

TEST(ShareTable, RootIsThereWithoutAnyAccount) {
  EXPECT_EQ(PrintShares({}, core::FairTree({}), {}, {}),
            "Account  User  RawShares  NormShares  RawUsage  NormUsage  EffectvUsage  FairShare  "
            "LevelFS\n"
            "root                        1.000000         0   0.000000      0.000000\n");
}

TEST(ShareTable, UsageIsWhatIsLeftOfItAtTheMoment) {
  const Duration half_life = std::chrono::hours(1);
  const Time start{Duration(1'773'480'413'000)};
  const Time end = start + Duration(1000);
  AccountTree tree;
  tree.associations.push_back(
      {.user = "ann",
       .account = "root",
       .shares = kParentShares,
       .usage = core::Charge(
           {}, {.job = JobId(1), .rate = BillingRate(500'000'000), .from = start, .until = end},
           half_life)});
  const std::string page =
      PrintShares(tree, core::FairTree(tree),
                  {.at = end + half_life, .half_life = half_life, .level_fs = true}, {});
  EXPECT_EQ(page,
            "Account  User  RawShares  NormShares  RawUsage  NormUsage  EffectvUsage  FairShare  "
            "LevelFS\n"
            "root                        1.000000       249   1.000000      1.000000\n"
            " root    ann      parent    1.000000       249   1.000000      1.000000   1.000000   "
            "   inf\n");
}

}  // namespace
}  // namespace muster::cli
