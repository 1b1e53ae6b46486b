#include "tests/tidy/tree.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::tidy {
namespace {

TEST(Tree, AHeaderMustIntroduceItself) {
  const auto found = [](const std::string& text) {
    return CheckHeaderOpening(MakeSource("a.h", text)).size();
  };
  EXPECT_EQ(found("#pragma once\n\n// What.\n//\n// Threads.\n\nint a;\n"), 0U);
  EXPECT_EQ(found("#pragma once\n\n/* What.\n   Threads.\n   Invariants. */\nint a;\n"), 0U);
  EXPECT_EQ(found("#pragma once\n\n// What.\n\n#include <vector>\n"), 1U);
  EXPECT_EQ(found("#pragma once\nint a;\n"), 1U);
  EXPECT_EQ(found("#ifndef A_H\n// What.\n// a\n// b\n"), 1U);
  EXPECT_TRUE(CheckHeaderOpening(MakeSource("a.cc", "int a;\n")).empty());
}

TEST(Tree, MarksOfUnfinishedWorkAreFound) {
  for (const std::string& mark : {std::string("TO") + "DO", std::string("FIX") + "ME"}) {
    EXPECT_EQ(CheckLeftovers(MakeSource("a.md", "so " + mark + ": later")).size(), 1U);
  }
  EXPECT_TRUE(CheckLeftovers(MakeSource("a.cc", "mkstemp(\"log.XXXXXX\");")).empty());
}

TEST(Tree, PathsOfOneMachineAreFound) {
  const auto found = [](const std::string& text) {
    return CheckWorkspacePaths(MakeSource("a.py", text)).size();
  };
  EXPECT_EQ(found(std::string("open(\"/wor") + "k/main/x\")"), 1U);
  EXPECT_EQ(found(std::string("cd /roo") + "t/x"), 1U);
  EXPECT_EQ(found(std::string("see docs/wor") + "k/main and https://host/roo" + "t/x"), 0U);
}

TEST(Tree, NamesThatSayNothingAreFound) {
  const auto found = [](const std::string& path) {
    return CheckNames(MakeSource(path, "")).size();
  };
  EXPECT_EQ(found("daemon/util/a.cc"), 1U);
  EXPECT_EQ(found("daemon/file_utils.h"), 1U);
  EXPECT_EQ(found("daemon/job_manager.cc"), 1U);
  EXPECT_EQ(found("tests/common.h"), 1U);
  EXPECT_EQ(found("daemon/utilisation.cc"), 0U);
  EXPECT_EQ(found("scheduler/core/management.cc"), 0U);
}

TEST(Tree, EverySourceMustBeListedAndEveryListedOneExist) {
  std::vector<Source> tree;
  tree.push_back(MakeSource("CMakeLists.txt", "add_subdirectory(a)\n"));
  tree.push_back(MakeSource("a/CMakeLists.txt", "add_library(a x.cc\n  \"sub/y.cc\")\n# old.cc\n"));
  tree.push_back(MakeSource("a/x.cc", ""));
  tree.push_back(MakeSource("a/sub/y.cc", ""));
  EXPECT_TRUE(CheckBuildLists(tree).empty());

  tree.push_back(MakeSource("a/forgotten.cc", ""));
  ASSERT_EQ(CheckBuildLists(tree).size(), 1U);
  EXPECT_EQ(CheckBuildLists(tree)[0].path, "a/forgotten.cc");
  tree.pop_back();

  tree.erase(tree.begin() + 2);
  ASSERT_EQ(CheckBuildLists(tree).size(), 1U);
  EXPECT_EQ(ToString(CheckBuildLists(tree)[0]).rfind("a/CMakeLists.txt:1: lists a/x.cc", 0), 0U);
}

TEST(Tree, ListsMayNameSourcesFromTheRoot) {
  std::vector<Source> tree;
  tree.push_back(MakeSource("CMakeLists.txt", "add_subdirectory(a)\n"));
  tree.push_back(MakeSource("a/CMakeLists.txt",
                            "t(${CMAKE_SOURCE_DIR}/b/x.cc ${CMAKE_CURRENT_SOURCE_DIR}/../b/y.cc\n"
                            "  ${CMAKE_BINARY_DIR}/gen/z.pb.cc)\n"));
  tree.push_back(MakeSource("b/x.cc", ""));
  tree.push_back(MakeSource("b/y.cc", ""));
  EXPECT_TRUE(CheckBuildLists(tree).empty());
}

TEST(Tree, AListThatNobodyAddsIsFound) {
  std::vector<Source> tree;
  tree.push_back(MakeSource("CMakeLists.txt", "add_subdirectory(a)\n"));
  tree.push_back(MakeSource("a/CMakeLists.txt", ""));
  tree.push_back(MakeSource("a/b/CMakeLists.txt", ""));
  EXPECT_EQ(CheckBuildLists(tree).size(), 1U);
  tree[1] =
      MakeSource("a/CMakeLists.txt", "foreach(f b)\n  add_subdirectory(${f})\nendforeach()\n");
  EXPECT_TRUE(CheckBuildLists(tree).empty());
}

TEST(Tree, EveryFolderWithCodeNeedsAShortPage) {
  std::vector<Source> tree;
  tree.push_back(MakeSource("daemon/a.cc", ""));
  tree.push_back(MakeSource(".ci/run", ""));
  EXPECT_EQ(CheckReadmes(tree).size(), 1U);
  tree.push_back(MakeSource("daemon/README.md", std::string(150, '\n')));
  EXPECT_TRUE(CheckReadmes(tree).empty());
  tree.back() = MakeSource("daemon/README.md", std::string(151, '\n'));
  EXPECT_EQ(CheckReadmes(tree).size(), 1U);
}

}  // namespace
}  // namespace muster::tidy
