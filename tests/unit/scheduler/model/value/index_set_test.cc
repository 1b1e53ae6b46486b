#include "scheduler/model/value/index_set.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

namespace muster {
namespace {

using Members = std::set<std::uint32_t>;

CpuSet SetOf(const Members& members) {
  CpuSet set;
  for (std::uint32_t member : members) {
    set.Insert(member);
  }
  return set;
}

Members MembersOf(const CpuSet& set) {
  const std::vector<std::uint32_t> members = set.Members();
  return Members(members.begin(), members.end());
}

rc::Gen<Members> AnyMembers() {
  return rc::gen::container<Members>(rc::gen::oneOf(
      rc::gen::inRange<std::uint32_t>(0, 140), rc::gen::inRange<std::uint32_t>(0, Bits::kLimit)));
}

TEST(IndexSet, WrittenAndReadBackIsTheSame) {
  EXPECT_TRUE(rc::check([] {
    const CpuSet set = SetOf(*AnyMembers());
    const absl::StatusOr<CpuSet> read = CpuSet::Parse(set.ToList());
    RC_ASSERT(read.ok());
    RC_ASSERT(*read == set);
  }));
}

TEST(IndexSet, DoesTheAlgebraOfSets) {
  EXPECT_TRUE(rc::check([] {
    const Members a = *AnyMembers();
    const Members b = *AnyMembers();
    Members both = a;
    both.insert(b.begin(), b.end());
    Members common;
    Members rest;
    for (std::uint32_t member : a) {
      (b.count(member) > 0 ? common : rest).insert(member);
    }
    RC_ASSERT(MembersOf(SetOf(a) | SetOf(b)) == both);
    RC_ASSERT(MembersOf(SetOf(a) & SetOf(b)) == common);
    RC_ASSERT(MembersOf(SetOf(a) - SetOf(b)) == rest);
    RC_ASSERT(SetOf(a).Meets(SetOf(b)) == !common.empty());
    RC_ASSERT(SetOf(a).Includes(SetOf(b)) == (common == b));
    RC_ASSERT(SetOf(a).Count() == a.size());
    RC_ASSERT(SetOf(a).Empty() == a.empty());
  }));
}

TEST(IndexSet, IsEqualWhateverItsHistory) {
  EXPECT_TRUE(rc::check([] {
    const Members members = *AnyMembers();
    const Members others = *AnyMembers();
    CpuSet set = SetOf(members) | SetOf(others);
    for (std::uint32_t other : others) {
      if (members.count(other) == 0) {
        set.Erase(other);
      }
    }
    RC_ASSERT(set == SetOf(members));
  }));
}

TEST(IndexSet, WritesRunsAsRanges) {
  EXPECT_EQ(CpuSet::Parse("60-67,127-191,193")->ToList(), "60-67,127-191,193");
  EXPECT_EQ(CpuSet::Of({0, 1, 2, 3, 8, 64, 65}).ToList(), "0-3,8,64-65");
  EXPECT_EQ(CpuSet().ToList(), "");
  EXPECT_EQ(CpuSet::Of({63, 64}).First(), 63U);
}

TEST(IndexSet, RefusesWhatIsNoListAndNamesThePiece) {
  for (const char* bad : {",", "1,", ",1", "1,,2", "-", "3-", "-3", "a", "1 ", " 1", "+1", "1-2-3",
                          "0x3", "65536", "0-65536", "99999999999999999999", "1;2"}) {
    const absl::StatusOr<CpuSet> set = CpuSet::Parse(bad);
    ASSERT_FALSE(set.ok()) << bad;
    EXPECT_EQ(set.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(set.status().message()).find('"'), std::string::npos) << set.status();
  }
  EXPECT_EQ(CpuSet::Parse("5-3").status().message(), "range \"5-3\" runs backwards");
}

TEST(IndexSetDeathTest, AMemberPastTheLimitEndsTheProcess) {
  CpuSet set;
  EXPECT_DEATH(set.Insert(Bits::kLimit), "broken invariant");
  EXPECT_DEATH(static_cast<void>(set.First()), "broken invariant");
}

}  // namespace
}  // namespace muster
