#include "tests/tidy/includes/named.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::tidy {
namespace {

TEST(StandardNames, ANameWhoseHeaderNobodyIncludesIsFound) {
  const std::vector<Finding> findings =
      CheckStandardNames({MakeSource("a/x.cc", "\nvoid F() { std::optional<int> x; }\n")});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].line, 2U);
  EXPECT_NE(findings[0].message.find("<optional>"), std::string::npos);
}

TEST(StandardNames, AHeaderOfOursMayIncludeIt) {
  EXPECT_TRUE(
      CheckStandardNames({MakeSource("a/x.h", "#include <optional>\n"),
                          MakeSource("a/x.cc", "#include \"a/x.h\"\nstd::optional<int> X();\n")})
          .empty());
}

TEST(StandardNames, AnotherSourceOfTheRoomIncludesForItselfAlone) {
  EXPECT_EQ(CheckStandardNames({MakeSource("a/w.cc", "#include <optional>\n"),
                                MakeSource("a/x.cc", "std::optional<int> X();\n")})
                .size(),
            1U);
}

TEST(StandardNames, CommentsNameNothing) {
  EXPECT_TRUE(CheckStandardNames({MakeSource("a/x.cc", "// a std::optional\n")}).empty());
}

const Source kThing = MakeSource("a/thing.h", "struct Thing {\n  int x;\n};\n");

TEST(ReachedTypes, ATypeOfAHeaderThatIsNotReachedIsFound) {
  const std::vector<Finding> findings =
      CheckTypesAreReached({kThing, MakeSource("a/x.cc", "int F(const Thing& thing);\n")});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].path, "a/x.cc");
  EXPECT_NE(findings[0].message.find("a/thing.h"), std::string::npos);
}

TEST(ReachedTypes, AHeaderOnTheWayIsEnough) {
  EXPECT_TRUE(CheckTypesAreReached(
                  {kThing, MakeSource("a/y.h", "#include \"a/thing.h\"\n"),
                   MakeSource("a/x.cc", "#include \"a/y.h\"\nint F(const Thing& thing);\n")})
                  .empty());
}

TEST(ReachedTypes, ADeclarationOrAnotherTypeOfThatNameIsEnough) {
  EXPECT_TRUE(
      CheckTypesAreReached({kThing, MakeSource("a/x.h", "struct Thing;\nint F(Thing& thing);\n"),
                            MakeSource("b/y.cc",
                                       "class Y {\n  struct Thing {\n  };\n"
                                       "  Thing thing;\n};\n")})
          .empty());
}

}  // namespace
}  // namespace muster::tidy
