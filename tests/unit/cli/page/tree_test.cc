#include "cli/page/tree.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

Tree Sample() {
  return {
      .text = "root",
      .children = {{.text = "a", .children = {{.text = "a1", .children = {}}}},
                   {.text = "b",
                    .children = {{.text = "b1", .children = {}}, {.text = "b2", .children = {}}}}}};
}

TEST(Tree, BranchesAreDrawnWithBoxCharacters) {
  EXPECT_EQ(PrintTree(Sample(), {}),
            "root\n"
            "├─ a\n"
            "│  └─ a1\n"
            "└─ b\n"
            "   ├─ b1\n"
            "   └─ b2\n");
}

TEST(Tree, WithoutUtf8TheyAreAscii) {
  Style style;
  style.utf8 = false;
  EXPECT_EQ(PrintTree(Sample(), style, "  "),
            "  root\n"
            "  |- a\n"
            "  |  `- a1\n"
            "  `- b\n"
            "     |- b1\n"
            "     `- b2\n");
}

}  // namespace
}  // namespace muster::cli
