#include "cli/page/text.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Text, WidthCountsColumnsAndNotBytes) {
  EXPECT_EQ(DisplayWidth(""), 0U);
  EXPECT_EQ(DisplayWidth("node1"), 5U);
  EXPECT_EQ(DisplayWidth("größe"), 5U);
  EXPECT_EQ(DisplayWidth("漢字"), 4U);
  EXPECT_EQ(DisplayWidth("e\xcc\x81"), 1U);  // e and a combining acute
}

TEST(Text, TheFirstColumnsAreWholeCharacters) {
  EXPECT_EQ(FirstColumns("größe", 3), "grö");
  EXPECT_EQ(FirstColumns("日本", 3), "日");
  EXPECT_EQ(FirstColumns("ab", 9), "ab");
  EXPECT_EQ(FirstColumns("ab", 0), "");
}

TEST(Text, CuttingKeepsWholeCharactersAndMarksTheLoss) {
  Style style;
  EXPECT_EQ(CutText("node1", 5, style), "node1");
  EXPECT_EQ(CutText("node12", 5, style), "node…");
  EXPECT_EQ(CutText("größer", 4, style), "grö…");
  EXPECT_EQ(CutText("漢字漢", 4, style), "漢…");
  style.utf8 = false;
  EXPECT_EQ(CutText("node12345", 6, style), "nod...");
}

}  // namespace
}  // namespace muster::cli
