#include "cli/page/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/page/text.h"

namespace muster::cli {
namespace {

Table Sample() {
  Table table({{.title = "ID", .right = true, .least = 0},
               {.title = "NAME", .right = false, .least = 4},
               {.title = "WHY", .right = false, .least = 6}});
  table.Add({{.text = "7"}, {.text = "größe"}, {.text = "a long sentence"}});
  table.Add({{.text = "1234"}, {.text = "b", .paint = Paint::kGreen}, {.text = ""}});
  return table;
}

std::size_t Widest(const std::string& page) {
  std::istringstream lines(page);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, DisplayWidth(line));
  }
  return widest;
}

TEST(Table, ColumnsAlignAndNoLineEndsInBlanks) {
  EXPECT_EQ(Sample().Print({}),
            "  ID  NAME   WHY\n"
            "   7  größe  a long sentence\n"
            "1234  b\n");
}

TEST(Table, LinesThatAreTakenInPiecesAlignWithThoseBefore) {
  Table table = Sample();
  EXPECT_EQ(table.TakeLines({}), Sample().Print({}));
  EXPECT_EQ(table.TakeLines({}), "");
  table.Add({{.text = "12"}, {.text = "c"}, {.text = "short"}});
  EXPECT_EQ(table.TakeLines({}), "  12  c      short\n");
  table.Add({{.text = "123456"}, {.text = "c"}, {.text = "wider"}});
  EXPECT_EQ(table.TakeLines({}), "123456  c      wider\n");
}

TEST(Table, TheTitlesCanBeLeftOutAndTakeNoRoomThen) {
  Table table({{.title = "LONGTITLE", .right = false, .least = 0},
               {.title = "B", .right = false, .least = 0}});
  table.Add({{.text = "x"}, {.text = "y"}});
  EXPECT_EQ(table.Print({}, false), "x  y\n");
  EXPECT_EQ(table.Print({}, false, 2), "  x  y\n");
}

TEST(Table, OnATerminalTheLastColumnShrinksFirst) {
  Style style;
  style.width = 22;
  EXPECT_EQ(Sample().Print(style),
            "  ID  NAME   WHY\n"
            "   7  größe  a long s…\n"
            "1234  b\n");
  style.width = 17;
  EXPECT_EQ(Widest(Sample().Print(style)), 18U);  // 4 + 4 + 6 and the gaps: no further
}

TEST(Table, AColumnThatMayNotShrinkIsNeverCut) {
  Style style;
  style.width = 1;
  EXPECT_NE(Sample().Print(style).find("1234"), std::string::npos);
}

TEST(Table, ColourSurroundsTheTextAndNotTheBlanks) {
  Style style;
  style.colour = true;
  const std::string page = Sample().Print(style);
  EXPECT_NE(page.find("1234  \x1b[32mb\x1b[0m\n"), std::string::npos);
  EXPECT_EQ(Sample().Print({}).find('\x1b'), std::string::npos);
}

TEST(Table, WideCharactersAndMarksTakeTheColumnsThatATerminalGivesThem) {
  Table table({{.title = "A", .right = true, .least = 0},
               {.title = "B", .right = false, .least = 4},
               {.title = "C", .right = false, .least = 0}});
  table.Add({{.text = "日本"}, {.text = "日本語です"}, {.text = "x"}});
  table.Add({{.text = "e\u0301"}, {.text = "abc"}, {.text = "y"}});
  EXPECT_EQ(table.Print({}),
            "   A  B           C\n"
            "日本  日本語です  x\n"
            "   e\u0301  abc         y\n");
  Style style;
  style.width = 15;
  EXPECT_EQ(table.Print(style),
            "   A  B       C\n"
            "日本  日本…   x\n"
            "   e\u0301  abc     y\n")
      << "a cut never splits a character, and the columns after it still align";
}

TEST(Table, OneTableIsPrintedAsOftenAsOneLikes) {
  const Table table = Sample();
  Style narrow;
  narrow.width = 22;
  narrow.colour = true;
  const std::string first = table.Print({});
  EXPECT_NE(table.Print(narrow), first);
  EXPECT_EQ(table.Print({}), first);
}

TEST(Table, ACellOfBlanksEndsNoLine) {
  Table table(
      {{.title = "A", .right = false, .least = 0}, {.title = "B", .right = true, .least = 0}});
  table.Add({{.text = "x "}, {.text = "  "}});
  table.Add({{.text = "y"}, {.text = "z"}});
  EXPECT_EQ(table.Print({}, false, 1), " x\n y    z\n");
}

TEST(Table, WhatACellHoldsCannotDriveTheTerminal) {
  Table table({{.title = "NAME", .right = false, .least = 0}});
  table.Add({{.text = "\x1b]0;owned\x07\n"}});
  EXPECT_EQ(table.Print({}, false), "\\x1b]0;owned\\x07\\x0a\n");
}

}  // namespace
}  // namespace muster::cli
