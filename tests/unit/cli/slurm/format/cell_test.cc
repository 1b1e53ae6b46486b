#include "cli/slurm/format/cell.h"

#include <gtest/gtest.h>

#include "cli/page/text.h"

namespace muster::cli::slurm {
namespace {

TEST(Cell, AValueIsCutAndPaddedToItsWidth) {
  EXPECT_EQ(InSlot("debug", {.width = 9}), "debug    ");
  EXPECT_EQ(InSlot("debug", {.width = 9, .right = true}), "    debug");
  EXPECT_EQ(InSlot("debug", {.width = 2, .right = true}), "de");
  EXPECT_EQ(InSlot("debug", {.suffix = "|"}), "debug|");
}

TEST(Cell, WhatIsCutIsCutBetweenCharacters) {
  EXPECT_EQ(InSlot("größe", {.width = 4}), "größ");
  EXPECT_EQ(InSlot("日本語", {.width = 5}), "日本 ");
}

TEST(Cell, NoTextReachesTheTerminalOrEndsTheLine) {
  EXPECT_EQ(Harmless("line\nbreak", ""), "line\\x0abreak");
  EXPECT_EQ(Harmless("\x1b[31mred", " "), "\\x1b[31mred");
  EXPECT_EQ(Harmless("bad\xff", ""), "bad\\xff");
  EXPECT_EQ(Harmless("größe", ""), "größe");
}

TEST(Cell, NoTextEndsItsColumn) {
  EXPECT_EQ(Harmless("a|b", "|"), "a\\x7cb");
  EXPECT_EQ(Harmless("a|b", ""), "a|b");
  EXPECT_EQ(Harmless("two words", " "), "two words");
  EXPECT_EQ(Harmless("a;b", ";;"), "a\\x3bb");
}

TEST(Cell, ATextInQuotesStaysAJsonString) {
  EXPECT_EQ(Harmless("say \"hi\"\n", "\"}"), "say \\\"hi\\\"\\u000a");
  EXPECT_EQ(Harmless("a\\b", "\""), "a\\\\b");
}

}  // namespace
}  // namespace muster::cli::slurm
