#include "cli/page/text.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Text, ControlCharactersAndStrayBytesArePrintedAsEscapes) {
  EXPECT_EQ(Printable("plain größe 漢"), "plain größe 漢");
  EXPECT_EQ(Printable("\x1b[31mred\n"), "\\x1b[31mred\\x0a");
  EXPECT_EQ(Printable("cut \xe6\xbc"), "cut \\xe6\\xbc");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(Printable("\xe2\x80\xae"
                      "abc"),
            "\\xe2\\x80\\xaeabc");
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
}

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
}  // namespace muster
