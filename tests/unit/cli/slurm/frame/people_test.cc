#include "cli/slurm/frame/people.h"

#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

TEST(People, HaveTheNamesOfThisMachine) {
  EXPECT_EQ(UserName(0), "root");
  EXPECT_EQ(GroupName(0), "root");
  EXPECT_EQ(UserNumber("root"), 0U);
}

TEST(People, ANumberWithoutANameIsItsDigits) {
  EXPECT_EQ(UserName(4'000'000'001U), "4000000001");
  EXPECT_EQ(GroupName(4'000'000'001U), "4000000001");
  EXPECT_EQ(UserNumber("4000000001"), 4'000'000'001U);
  EXPECT_EQ(UserNumber("nobody_here"), std::nullopt);
  EXPECT_EQ(UserNumber("99999999999"), std::nullopt);
}

}  // namespace
}  // namespace muster::cli::slurm
