#include "tests/tidy/reach.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::tidy {
namespace {

const std::string kMain = "int main() {}\n";

std::string Includes(const std::string& path) {
  return "#include \"" + path + "\"\n";
}

TEST(DeadHeaders, WhatAMainReachesThroughSourcesLives) {
  const std::vector<Source> tree = {
      MakeSource("a/main.cc", Includes("a/x.h") + kMain),
      MakeSource("a/x.h", ""),
      MakeSource("a/x.cc", Includes("a/x.h") + Includes("b/y.h")),
      MakeSource("b/y.h", ""),
      MakeSource("b/y_part.cc", Includes("b/y.h") + Includes("b/z.h")),
      MakeSource("b/z.h", "")};
  EXPECT_TRUE(CheckDeadHeaders(tree, {}).empty());
}

TEST(DeadHeaders, WhatOnlyItsOwnSourceAndTestsIncludeIsDead) {
  const std::vector<Source> tree = {MakeSource("a/main.cc", kMain), MakeSource("a/x.h", ""),
                                    MakeSource("a/x.cc", Includes("a/x.h")),
                                    MakeSource("tests/x_test.cc", Includes("a/x.h"))};
  const std::vector<Finding> findings = CheckDeadHeaders(tree, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].path, "a/x.h");
}

TEST(DeadHeaders, WhatAPamModuleIncludesLives) {
  const std::string call = "EXPORT int pam_sm_open_session(pam_handle_t* pam) {}\n";
  EXPECT_TRUE(
      CheckDeadHeaders(
          {MakeSource("a/module.cc", Includes("a/x.h") + call), MakeSource("a/x.h", "")}, {})
          .empty());
}

TEST(DeadHeaders, TheHeaderOfTheVerbsHasTheSourcesOfAllOfThem) {
  const auto findings = [](const std::string& source) {
    return CheckDeadHeaders(
               {MakeSource("cli/main.cc", Includes("cli/frame/verbs.h") + kMain),
                MakeSource("cli/frame/verbs.h", ""),
                MakeSource(source, Includes("cli/frame/verbs.h") + Includes("cli/jobs/y.h")),
                MakeSource("cli/jobs/y.h", "")},
               {})
        .size();
  };
  EXPECT_EQ(findings("cli/jobs/cmd_hold.cc"), 0U);
  EXPECT_EQ(findings("cli/other/part.cc"), 1U);
}

TEST(DeadHeaders, AMainUnderTestsKeepsNothingAlive) {
  EXPECT_EQ(
      CheckDeadHeaders(
          {MakeSource("a/x.h", ""), MakeSource("tests/main.cc", Includes("a/x.h") + kMain)}, {})
          .size(),
      1U);
}

TEST(DeadHeaders, TheListExcusesWithAllThatItNeedsAndOnlyShrinks) {
  const std::vector<Source> tree = {MakeSource("a/x.h", ""),
                                    MakeSource("a/x.cc", Includes("a/x.h") + Includes("a/y.h")),
                                    MakeSource("a/y.h", "")};
  EXPECT_TRUE(CheckDeadHeaders(tree, {"a/x.h"}).empty());
  EXPECT_EQ(CheckDeadHeaders(tree, {"a/x.h", "a/gone.h"}).size(), 1U);
  const std::vector<Source> alive = {MakeSource("a/main.cc", Includes("a/x.h") + kMain),
                                     MakeSource("a/x.h", "")};
  EXPECT_EQ(CheckDeadHeaders(alive, {"a/x.h"}).size(), 1U);
}

TEST(UntestedHeaders, AHeaderThatNoTestIncludesIsFound) {
  const std::vector<Source> tree = {MakeSource("a/x.h", ""), MakeSource("a/y.h", ""),
                                    MakeSource("a/y.cc", Includes("a/x.h")),
                                    MakeSource("tests/y_test.cc", Includes("a/y.h"))};
  const std::vector<Finding> findings = CheckUntestedHeaders(tree, MakeSource("list.txt", ""));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].path, "a/x.h");
  EXPECT_TRUE(CheckUntestedHeaders(tree, MakeSource("list.txt", "a/x.h\n")).empty());
}

TEST(UntestedHeaders, TheListOnlyShrinks) {
  const std::vector<Source> tree = {MakeSource("a/x.h", ""),
                                    MakeSource("tests/x_test.cc", Includes("a/x.h"))};
  const std::vector<Finding> findings =
      CheckUntestedHeaders(tree, MakeSource("list.txt", "a/x.h\na/gone.h\n"));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].line, 2U);
}

}  // namespace
}  // namespace muster::tidy
