#include "tests/tidy/rooms.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace muster::tidy {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::vector<Source> Tree(const Files& files) {
  std::vector<Source> tree;
  for (const auto& [path, included] : files) {
    tree.push_back(MakeSource(path, included.empty() ? "" : "\n#include \"" + included + "\"\n"));
  }
  return tree;
}

const std::vector<RoomRow>& Table() {
  static const std::vector<RoomRow> table = {{"core", "plan", "place place/nodes"},
                                             {"core", "place/nodes", "place"},
                                             {"core", ".", "plan"}};
  return table;
}

// What every row of the table needs.
Files Allowed() {
  return {{"core/place/a.h", ""},
          {"core/place/nodes/b.h", "core/place/a.h"},
          {"core/plan/c.h", "core/place/nodes/b.h"},
          {"core/plan/d.cc", "core/place/a.h"},
          {"core/main.cc", "core/plan/c.h"}};
}

std::vector<Finding> Rooms(Files files, const std::pair<std::string, std::string>& more = {}) {
  if (!more.first.empty()) {
    files.push_back(more);
  }
  return CheckRooms(Tree(files), Table());
}

TEST(Rooms, AnIncludeThatTheTableAllowsIsFine) {
  EXPECT_TRUE(Rooms(Allowed()).empty());
  EXPECT_TRUE(Rooms(Allowed(), {"core/plan/e.h", "core/plan/c.h"}).empty());
}

TEST(Rooms, AnIncludeBetweenRoomsThatTheTableDoesNotAllowIsFound) {
  const std::vector<Finding> up = Rooms(Allowed(), {"core/place/e.cc", "core/plan/c.h"});
  ASSERT_EQ(up.size(), 1U);
  EXPECT_EQ(up[0].path, "core/place/e.cc");
  EXPECT_EQ(up[0].line, 2U);
  EXPECT_NE(up[0].message.find("room_table.cc"), std::string::npos);
  EXPECT_EQ(Rooms(Allowed(), {"core/place/e.cc", "core/place/nodes/b.h"}).size(), 1U);
}

TEST(Rooms, ANewRoomMayIncludeNothingOfItsWingUntilTheTableSaysSo) {
  EXPECT_EQ(Rooms(Allowed(), {"core/fresh/e.cc", "core/place/a.h"}).size(), 1U);
}

TEST(Rooms, ARowThatNothingNeedsIsFound) {
  Files files = Allowed();
  files[1].second = "";
  const std::vector<Finding> findings = Rooms(files);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].path, "core/place/nodes");
}

TEST(Rooms, OtherWingsAndTestsAreNotItsConcern) {
  EXPECT_TRUE(Rooms(Allowed(), {"daemon/e.cc", "core/plan/c.h"}).empty());
  EXPECT_TRUE(Rooms(Allowed(), {"tests/e.cc", "core/plan/c.h"}).empty());
}

TEST(RoomPages, APageThatLeavesOutARoomOfTheTableIsFound) {
  const auto findings = [](const std::string& text) {
    return CheckRoomPagesSay({MakeSource("core/plan/README.md", text)}, Table()).size();
  };
  EXPECT_EQ(findings("# Plan\n\nMay include: `place`,\n`core/place/nodes`.\n\n`x`"), 0U);
  EXPECT_EQ(findings("# Plan\n\nMay include: `place`.\n\n`place/nodes` is elsewhere"), 1U);
  EXPECT_EQ(findings("# Plan\n\nMay include: nothing.\n"), 2U);
  EXPECT_EQ(findings("# Plan\n"), 0U) << "a page of a whole wing says it otherwise";
}

TEST(RoomCircles, RoomsThatIncludeOneAnotherAreFound) {
  EXPECT_TRUE(CheckRoomCircles(Tree(Allowed())).empty());
  Files files = Allowed();
  files.emplace_back("core/place/e.cc", "core/plan/c.h");
  const std::vector<Finding> findings = CheckRoomCircles(Tree(files));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].message.find("core/place core/place/nodes core/plan."), std::string::npos);
}

TEST(RoomCircles, ACircleOverTwoWingsIsFoundToo) {
  EXPECT_EQ(
      CheckRoomCircles(Tree({{"a/x/f.h", "b/y/g.h"}, {"b/y/g.h", ""}, {"b/y/h.cc", "a/x/f.h"}}))
          .size(),
      1U);
}

TEST(UnitCircles, AHeaderAndItsSourceAreOne) {
  const Files files = {{"a/x.h", "a/y.h"}, {"a/y.h", ""}, {"a/y.cc", "a/x.h"}};
  const std::vector<Finding> findings = CheckUnitCircles(Tree(files), {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].message.find("a/x a/y."), std::string::npos);
  EXPECT_TRUE(CheckUnitCircles(Tree({{"a/x.h", ""}, {"a/x.cc", "a/x.h"}}), {}).empty());
}

TEST(UnitCircles, AKnownCircleIsExcusedUntilItIsGone) {
  const Files files = {{"a/x.h", "a/y.h"}, {"a/y.h", ""}, {"a/y.cc", "a/x.h"}};
  EXPECT_TRUE(CheckUnitCircles(Tree(files), {"a/x a/y"}).empty());
  EXPECT_EQ(CheckUnitCircles(Tree({{"a/x.h", "a/y.h"}, {"a/y.h", ""}}), {"a/x a/y"}).size(), 1U);
}

TEST(UnitCircles, AKnownCircleMayNotGrow) {
  const Files files = {{"a/x.h", "a/y.h"}, {"a/y.h", ""}, {"a/y.cc", "a/z.h"}, {"a/z.h", "a/x.h"}};
  EXPECT_EQ(CheckUnitCircles(Tree(files), {"a/x a/y"}).size(), 2U);
}

}  // namespace
}  // namespace muster::tidy
