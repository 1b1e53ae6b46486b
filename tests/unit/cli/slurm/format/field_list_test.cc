#include "cli/slurm/format/field_list.h"

#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

TEST(WideFormat, AFieldThatSaysNoWidthTakesTwenty) {
  const std::vector<NamedField> fields = ParseWideFormat("JobID,name:10,state:.12");
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[0], (NamedField{"JobID", {.width = 20}}));
  EXPECT_EQ(fields[1], (NamedField{"name", {.width = 10}}));
  EXPECT_EQ(fields[2], (NamedField{"state", {.width = 12, .right = true}}));
}

TEST(WideFormat, AColonWithoutAWidthIsAsWideAsTheValue) {
  const std::vector<NamedField> fields = ParseWideFormat("Name:\x1f,State: ,User:,Account:abc");
  ASSERT_EQ(fields.size(), 4U);
  EXPECT_EQ(fields[0].slot, (Slot{.width = 0, .right = false, .suffix = "\x1f"}));
  EXPECT_EQ(fields[1].slot.suffix, " ");
  EXPECT_EQ(fields[2].slot, Slot());
  EXPECT_EQ(fields[3].slot.suffix, "abc");
}

TEST(WideFormat, AnEmptyItemIsNone) {
  EXPECT_EQ(ParseWideFormat("JobID,,Name,").size(), 2U);
  EXPECT_TRUE(ParseWideFormat("").empty());
}

TEST(SizedFormat, AWidthFollowsASignAndAMinusMovesTheValueLeft) {
  const std::vector<SizedField> fields = ParseSizedFormat("JobID%4,JobName%-20,State");
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[0], (SizedField{"JobID", 4}));
  EXPECT_EQ(fields[1], (SizedField{"JobName", -20}));
  EXPECT_EQ(fields[2], (SizedField{"State", std::nullopt}));
  EXPECT_EQ(ParseSizedFormat("a%,b,").size(), 2U);
}

}  // namespace
}  // namespace muster::cli::slurm
