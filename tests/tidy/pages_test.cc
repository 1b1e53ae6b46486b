#include "tests/tidy/pages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::tidy {
namespace {

TEST(Pages, NoLineIsWiderThanAScreen) {
  const auto found = [](const std::string& text) {
    return CheckPageWidth(MakeSource("a/README.md", text)).size();
  };
  EXPECT_EQ(found("short\n" + std::string(120, 'a') + "\n"), 0U);
  EXPECT_EQ(found("short\n" + std::string(121, 'a')), 1U);
  EXPECT_EQ(found("| " + std::string(119, 'a') + "\n"), 1U);       // tables, too
  EXPECT_EQ(found(std::string(118, 'a') + "\u2026\u2192\n"), 0U);  // characters, not bytes
  ASSERT_EQ(found(std::string(121, 'a') + "\nb\n" + std::string(121, 'a') + "\n"), 2U);
  EXPECT_EQ(CheckPageWidth(MakeSource("README.md", "\n\n" + std::string(121, 'a')))[0].line, 3U);
  EXPECT_EQ(CheckPageWidth(MakeSource("CONTRIBUTING.md", std::string(121, 'a'))).size(), 1U);
  EXPECT_EQ(CheckPageWidth(MakeSource("a.txt", std::string(121, 'a'))).size(), 0U);
}

TEST(Pages, APathThatAPageNamesExists) {
  const auto found = [](const std::string& text) {
    return CheckNamedPaths({MakeSource("a/b/x.h", ""), MakeSource("a/b/x.cc", ""),
                            MakeSource("a/run", ""), MakeSource("a/b/README.md", text)},
                           {"a/man"})
        .size();
  };
  EXPECT_EQ(found("`a/b`, `a/b/`, `a/b/x`, `a/b/x.h`, `a/run`, `a/b/README.md`, `b/x`"), 0U);
  EXPECT_EQ(found("`a/man`"), 0U);
  EXPECT_EQ(found("`a/c`"), 1U);
  EXPECT_EQ(found("`b/y`"), 1U);
  EXPECT_EQ(found("`a/b/y` and `a/b/x.py`"), 2U);
  // Not a folder's name first, a pattern, a placeholder, a command, an ending that is not read.
  EXPECT_EQ(found("`c/y`, `a/*.y`, `a/cmd_VERB.h`, `ls a/c`, `/a/c`, `a/man.1`, a/c"), 0U);
  EXPECT_EQ(CheckNamedPaths({MakeSource("a/x.py", "`a/c`"), MakeSource("a/notes.md", "`a/c`")}, {})
                .size(),
            0U);
  EXPECT_EQ(
      CheckNamedPaths({MakeSource("a/x.cc", ""), MakeSource("SECURITY.md", "`a/c`")}, {}).size(),
      1U);
}

TEST(Pages, APathThatACommentNamesExists) {
  const auto found = [](const std::string& name, const std::string& text) {
    return CheckNamedPaths({MakeSource("a/b/x.h", ""), MakeSource("a/" + name, text)}, {});
  };
  EXPECT_EQ(found("y.cc", "// a/b, b/x, a/b/x.h. (a/b/x)\nint a;  // b/x.h's\n").size(), 0U);
  const std::vector<Finding> two = found("y.h", "int a;\nint b;  // see b/y.h.\n// (a/c)\n");
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(ToString(two[0]).rfind("a/y.h:2: names b/y.h, which is not there", 0), 0U);
  EXPECT_EQ(two[1].line, 3U);
  EXPECT_EQ(found("y.proto", "string s = 1;  // a/c\n").size(), 1U);
  EXPECT_EQ(
      found("y.cc", "f(\"http://a/c\");  // \"1 a/s\", a/NAME, a/cmd_*, /a/c, c/a, a\n").size(),
      0U);
  EXPECT_EQ(found("y.cc", "#include \"a/c\"\nint a = b / c;\n").size(), 0U);
}

TEST(Pages, ARoomIsNamedByAPageAboveIt) {
  const auto found = [](const std::string& wing, const std::string& above) {
    return CheckRoomsAreNamed({MakeSource("README.md", "`a/b/c`"), MakeSource("a/README.md", wing),
                               MakeSource("a/b/README.md", above),
                               MakeSource("a/b/c/README.md", "`c`, `a/b/c`")})
        .size();
  };
  EXPECT_EQ(found("`a/b`", "`a/b/c`"), 0U);
  EXPECT_EQ(found("| `b` |", "- `b/c`: what it holds"), 0U);
  EXPECT_EQ(found("`b/`", "see `c`"), 0U);
  EXPECT_EQ(found("`b` and `b/c`", ""), 0U);
  // The page of the wing is above both, that of the room is not above itself.
  EXPECT_EQ(found("", "`a/b`, `c`"), 1U);
  EXPECT_EQ(found("`b`, `c`", ""), 1U);
  EXPECT_EQ(found("", ""), 2U);
  // What may be included, a file in it, a word, another's name.
  EXPECT_EQ(found("`b`", "Text.\n\nMay include: `a/b/c`,\n`c`.\n"), 1U);
  EXPECT_EQ(found("`b`", "Text.\n\nMay include: `d`.\n\n- `c`\n"), 0U);
  EXPECT_EQ(found("`b`", "`c/x.h`, c, `d/c`"), 1U);
}

TEST(Pages, TheNearestPageAboveIsAskedToNameARoom) {
  const std::vector<Finding> found =
      CheckRoomsAreNamed({MakeSource("a/README.md", "`b`"), MakeSource("a/b/README.md", ""),
                          MakeSource("a/b/c/d/README.md", ""), MakeSource("e/f/README.md", "")});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(ToString(found[0]).rfind("a/b/README.md: does not name a/b/c/d,", 0), 0U);
  EXPECT_EQ(ToString(found[1]).rfind("e/README.md: does not name e/f,", 0), 0U);
}

}  // namespace
}  // namespace muster::tidy
