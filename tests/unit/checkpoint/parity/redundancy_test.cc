#include "checkpoint/parity/redundancy.h"

#include <gtest/gtest.h>

namespace muster::checkpoint {
namespace {

double Total(Redundancy scheme, std::uint32_t nodes, std::uint32_t parities = 0) {
  return 1 + ExtraSpace(scheme, nodes, parities);
}

TEST(Redundancy, TheSpaceIsThatOfTheReferenceTable) {
  EXPECT_NEAR(Total(Redundancy::kXor, 8), 1.1429, 5e-5);
  EXPECT_NEAR(Total(Redundancy::kReedSolomon, 8, 2), 1.3333, 5e-5);
  EXPECT_NEAR(Total(Redundancy::kXor, 4), 1.3333, 5e-5);
  EXPECT_DOUBLE_EQ(Total(Redundancy::kReedSolomon, 4, 2), 2);
  EXPECT_DOUBLE_EQ(Total(Redundancy::kSingle, 1), 1);
  EXPECT_DOUBLE_EQ(Total(Redundancy::kPartner, 2), 2);
}

TEST(Redundancy, MoreSpaceSurvivesMoreLosses) {
  EXPECT_EQ(LossesSurvived(Redundancy::kSingle, 8, 0), 0U);
  EXPECT_EQ(LossesSurvived(Redundancy::kPartner, 8, 0), 1U);
  EXPECT_EQ(LossesSurvived(Redundancy::kXor, 8, 0), 1U);
  EXPECT_EQ(LossesSurvived(Redundancy::kReedSolomon, 8, 2), 2U);
}

TEST(Redundancy, ASetThatCannotBeIsRefused) {
  EXPECT_EQ(ExtraSpace(Redundancy::kXor, 1, 0), kImpossible);
  EXPECT_EQ(ExtraSpace(Redundancy::kPartner, 0, 0), kImpossible);
  EXPECT_EQ(ExtraSpace(Redundancy::kReedSolomon, 8, 8), kImpossible);
  EXPECT_EQ(ExtraSpace(Redundancy::kReedSolomon, 8, 0), kImpossible);
  EXPECT_EQ(LossesSurvived(Redundancy::kReedSolomon, 8, 9), 0U);
}

}  // namespace
}  // namespace muster::checkpoint
