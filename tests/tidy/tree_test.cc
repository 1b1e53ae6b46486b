#include "tests/tidy/tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::tidy {
namespace {

TEST(Tree, AHeaderMustIntroduceItself) {
  const auto found = [](const std::string& text) {
    return CheckHeaderOpening(MakeSource("a.h", text)).size();
  };
  EXPECT_EQ(found("#pragma once\n\n// What.\n//\n// Threads.\n\nint a;\n"), 0U);
  EXPECT_EQ(found("#pragma once\n\n/* What.\n   Threads.\n   Invariants. */\nint a;\n"), 0U);
  EXPECT_EQ(found("#pragma once\n\n// What.\n\n#include <vector>\n"), 0U);
  EXPECT_EQ(found("#pragma once\n\n#include <vector>\n\n// What.\n"), 1U);
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

TEST(Tree, SourcesStandInOrderAndOnceInTheirList) {
  std::vector<Source> tree;
  tree.push_back(MakeSource("CMakeLists.txt", ""));
  for (const char* name : {"a.cc", "b.cc", "c.cc"}) {
    tree.push_back(MakeSource(name, ""));
  }
  for (const char* list : {"t(a.cc b.cc c.cc)", "t(b.cc c.cc)\nu(a.cc)"}) {
    tree[0] = MakeSource("CMakeLists.txt", list);
    EXPECT_TRUE(CheckBuildLists(tree).empty()) << list;
  }
  for (const char* list : {"t(a.cc c.cc b.cc)", "t(a.cc b.cc b.cc c.cc)"}) {
    tree[0] = MakeSource("CMakeLists.txt", list);
    EXPECT_EQ(CheckBuildLists(tree).size(), 1U) << list;
  }
}

TEST(Tree, ATypeNameIsDefinedOnceInTheProduct) {
  const auto found = [](const char* first, const char* second) {
    return CheckTypeNames({MakeSource("a/x.h", first), MakeSource("b/y.h", second)}).size();
  };
  EXPECT_EQ(found("namespace m {\nstruct A {\n};\n", "namespace m {\nclass A final {\n};\n"), 1U);
  EXPECT_EQ(found("namespace m {\nenum class A : int { kB };\n", "namespace m {\nstruct A {\n"),
            1U);
  // Another namespace, a file's own, a declaration, a member.
  EXPECT_EQ(found("namespace m {\nstruct A {\n", "namespace n {\nstruct A {\n"), 0U);
  EXPECT_EQ(found("namespace m {\nstruct A {\n", "namespace m {\nnamespace {\nstruct A {\n"), 0U);
  EXPECT_EQ(found("namespace m {\nstruct A {\n", "namespace m {\nstruct A;\n"), 0U);
  EXPECT_EQ(found("namespace m {\nstruct A {\n", "namespace m {\nclass B {\n  struct A {\n"), 0U);
  // The namespace has ended; tests may have twins of their own.
  EXPECT_EQ(found("namespace m {\n}  // namespace m\nstruct A {\n", "namespace m {\nstruct A {\n"),
            0U);
  EXPECT_TRUE(CheckTypeNames(
                  {MakeSource("a/x.h", "struct A {\n"), MakeSource("tests/x.cc", "struct A {\n")})
                  .empty());
}

TEST(Tree, AFolderHoldsNoMoreThanAHeadDoes) {
  std::vector<Source> tree;
  for (size_t i = 0; i < kFolderSourcesMax; ++i) {
    tree.push_back(MakeSource("a/f" + std::to_string(i) + ".cc", ""));
  }
  tree.push_back(MakeSource("a/README.md", ""));
  EXPECT_TRUE(CheckFolderSizes(tree).empty());
  tree.push_back(MakeSource("a/more.h", ""));
  EXPECT_EQ(CheckFolderSizes(tree).size(), 1U);
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

// A room a/b with the units x (a pair) and y, and its page.
std::vector<Source> RoomWithPage(const std::string& page) {
  return {MakeSource("a/b/x.h", ""), MakeSource("a/b/x.cc", ""), MakeSource("a/b/y.cc", ""),
          MakeSource("a/b/README.md", page)};
}

TEST(Tree, ARoomsPageNamesEachUnitOnceAndNoOther) {
  const auto found = [](const std::string& rows) {
    return CheckRoomPages(RoomWithPage("| unit | what it does |\n|---|---|\n" + rows), {}).size();
  };
  EXPECT_EQ(found("| `x` | one |\n| `y` | two |\n"), 0U);
  EXPECT_EQ(found("| `x` | as `z` does, but not | `z` |\n| `y` | two |\nand `z`\n"), 0U);
  EXPECT_EQ(found("| `x` | one |\n"), 1U);
  EXPECT_EQ(found("| `x`, `y` | both |\n"), 2U);
  EXPECT_EQ(found("| `x` | one |\n| `y` | two |\n| `x` | again |\n"), 1U);
  EXPECT_EQ(found("| `x` | one |\n| `y` | two |\n| `z` | elsewhere |\n"), 1U);
}

TEST(Tree, ARoomsPageIsShort) {
  const auto found = [](const std::string& more) {
    return CheckRoomPages(RoomWithPage("| `x` | one |\n| `y` | two |\n" + more), {}).size();
  };
  EXPECT_EQ(found(std::string(58, '\n')), 0U);
  EXPECT_EQ(found(std::string(59, '\n')), 1U);
  std::string words = "\n";
  for (int i = 0; i < 590; ++i) {
    words += i % 40 == 39 ? "a\n" : "a ";
  }
  EXPECT_EQ(found(words), 0U);
  EXPECT_EQ(found(words + "a\n"), 1U);
}

TEST(Tree, ARoomWithoutAPageStandsOnTheList) {
  std::vector<Source> tree = RoomWithPage("");
  tree.pop_back();
  ASSERT_EQ(CheckRoomPages(tree, {}).size(), 1U);
  EXPECT_EQ(CheckRoomPages(tree, {})[0].path, "a/b/README.md");
  EXPECT_TRUE(CheckRoomPages(tree, {"a/b"}).empty());
  EXPECT_EQ(CheckRoomPages(tree, {"a/b", "a/gone"}).size(), 1U);
  tree.push_back(MakeSource("a/b/README.md", "| `x` | one |\n| `y` | two |\n"));
  EXPECT_TRUE(CheckRoomPages(tree, {}).empty());
  EXPECT_EQ(CheckRoomPages(tree, {"a/b"}).size(), 1U);  // it has its page now
}

TEST(Tree, ARoomIsAFolderOfTheProductWithSourcesBelowTheTopLevel) {
  const auto found = [](const std::string& one, const std::string& two) {
    return CheckRoomPages({MakeSource(one, ""), MakeSource(two, "")}, {}).size();
  };
  EXPECT_EQ(found("a/b/x.cc", "a/b/y.cu"), 1U);
  EXPECT_EQ(found("a/b/x.h", "a/b/x.cc"), 1U);
  EXPECT_EQ(found("a/b/x.cc", "a/c/y.cc"), 0U);  // a single file needs no map
  EXPECT_EQ(found("a/x.cc", "a/y.cc"), 0U);      // the top level's page is another rule's
  EXPECT_EQ(found("a/b/x.c", "a/b/y.c"), 0U);    // examples
  EXPECT_EQ(found("tests/b/x.cc", "tests/b/y.cc"), 0U);
}

}  // namespace
}  // namespace muster::tidy
