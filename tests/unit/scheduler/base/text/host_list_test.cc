
#include "scheduler/base/text/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Names(const std::string& text) {
  absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(text);
  EXPECT_TRUE(names.ok()) << text;
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

TEST(HostList, ExpandsRangesWithTheirZerosAndKeepsTheirOrder) {
  EXPECT_EQ(Names("n[8-10],a,r[01-02]n[3,1]"),
            (std::vector<std::string>{"n8", "n9", "n10", "a", "r01n3", "r01n1", "r02n3", "r02n1"}));
}

TEST(HostList, ANameThatIsWrittenTwiceIsThereTwice) {
  EXPECT_EQ(Names("n1,n[1-2]"), (std::vector<std::string>{"n1", "n1", "n2"}));
}

TEST(HostList, TellsTooManyFromNoList) {
  EXPECT_TRUE(absl::IsResourceExhausted(ExpandHostlist("n[1-70000]").status()));
  EXPECT_TRUE(absl::IsResourceExhausted(ExpandHostlist("n[1-40000],m[1-40000]").status()));
  EXPECT_EQ(Names("n[1-65536]").size(), kHostsMax);
  for (const char* bad : {"", ",", "n1,", "n[", "n[]", "n[2-1]", "n[a]", "n[1-]", "n 1", "n[+1]",
                          "n[99999999999999999999]"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ExpandHostlist(bad).status())) << bad;
  }
}

TEST(NodeNames, ExpandsRangesAndKeepsZeros) {
  EXPECT_THAT(*NodeNames("n[1-3,7]"), ElementsAre("n1", "n2", "n3", "n7"));
  EXPECT_THAT(*NodeNames("a,b"), ElementsAre("a", "b"));
  EXPECT_THAT(*NodeNames("n[08-10]"), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(*NodeNames("r[1-2]n[1-2]"), ElementsAre("r1n1", "r1n2", "r2n1", "r2n2"));
  EXPECT_THAT(*NodeNames("n[1-2]-ib,n1-ib"), ElementsAre("n1-ib", "n2-ib"));
}

TEST(NodeNames, RefusesWhatIsNoneAndWhatIsTooMuch) {
  for (const char* text :
       {"", ",", "a,", "n[", "n[]", "n[1", "n]", "n[3-1]", "n[a]", "n 1", "n[1,]", "n[-1]", "n[1-]",
        "[1-2][1-2][1-2][1-2][1-2]", "[99999999999999999999]"}) {
    EXPECT_FALSE(NodeNames(text).ok()) << text;
  }
  EXPECT_THAT(std::string(NodeNames("n[1-999999999999]").status().message()),
              HasSubstr("too many"));
  EXPECT_THAT(std::string(NodeNames("n[1-1000]m[1-1000]").status().message()),
              HasSubstr("too many"));
}

RC_GTEST_PROP(NodeNames, NumbersComeBackAsTheyWere, ()) {
  const auto first = *rc::gen::inRange(0U, 5000U);
  const auto count = *rc::gen::inRange(1U, 50U);
  const std::vector<std::string> names =
      *NodeNames("n[" + std::to_string(first) + "-" + std::to_string(first + count - 1) + "]");
  RC_ASSERT(names.size() == count);
  for (std::uint32_t i = 0; i < count; ++i) {
    RC_ASSERT(names[i] == "n" + std::to_string(first + i));
  }
}

TEST(NodeNames, ExpandsBracketsWithTheirZeros) {
  EXPECT_THAT(NodeNames("n[01-03,7],login,n2").value(),
              ElementsAre("n01", "n02", "n03", "n7", "login", "n2"));
  EXPECT_THAT(NodeNames("a,a,a").value(), ElementsAre("a"));
  EXPECT_THAT(NodeNames("n[1-2][3]").value(), ElementsAre("n13", "n23"));
  for (const char* bad :
       {"", "n[1-", "n[3-1]", "a b", "n[]", "n[1-99999999]", ",", "n[1-60000],m[1-60000]"}) {
    EXPECT_FALSE(NodeNames(bad).ok()) << bad;
  }
}

TEST(CompressHostlist, NumbersFoldIntoRuns) {
  EXPECT_EQ(NumberList({}), "");
  EXPECT_EQ(NumberList({5}), "5");
  EXPECT_EQ(NumberList({5, 3, 4, 9, 4}), "3-5,9");
  EXPECT_EQ(NumberList({8, 9, 10}, 3), "008-010");
}

TEST(CompressHostlist, NamesThatDifferInTheirNumberShareABracket) {
  EXPECT_EQ(CompressHostlist({}), "");
  EXPECT_EQ(CompressHostlist({"node1"}), "node1");
  EXPECT_EQ(CompressHostlist({"node1", "node2", "node3", "node7"}), "node[1-3,7]");
  EXPECT_EQ(CompressHostlist({"gpu08", "gpu09", "gpu10", "login"}), "gpu[08-10],login");
  EXPECT_EQ(CompressHostlist({"b2", "a1", "b1"}), "b[1-2],a1");
  EXPECT_EQ(CompressHostlist({"10.0.0.7", "10.0.0.8"}), "10.0.0.[7-8]");
  EXPECT_EQ(CompressHostlist({"7", "8"}), "[7-8]");
}

TEST(CompressHostlist, ZerosInFrontAreKept) {
  EXPECT_EQ(CompressHostlist({"n1", "n01", "n001"}), "n1,n01,n001");
  EXPECT_EQ(CompressHostlist({"n99", "n100"}), "n[99-100]");
  EXPECT_EQ(CompressHostlist({"n0"}), "n0");
}

TEST(CompressHostlist, ANumberThatIsTooLongStandsAsItIs) {
  const std::string longer = "n1234567890123456789012";
  EXPECT_EQ(CompressHostlist({longer, "n1"}), longer + ",n1");
}

TEST(CompressHostlist, KeepsTheOrderThatACountForEachNodeNeeds) {
  EXPECT_EQ(CompressHostlist({"n3", "n1", "n2"}), "n[1-3]");
  EXPECT_EQ(CompressHostlist({"n3", "n1", "n2"}, HostOrder::kAsGiven), "n[3,1-2]");
  EXPECT_EQ(CompressHostlist({"n09", "n10", "n11", "login"}, HostOrder::kAsGiven),
            "n[09-11],login");
  EXPECT_EQ(CompressHostlist({"a1", "b1", "a2"}, HostOrder::kAsGiven), "a[1-2],b1");
  EXPECT_EQ(CompressHostlist({}, HostOrder::kAsGiven), "");
}

TEST(CompressCounts, WritesRunsAsSlurmDoes) {
  EXPECT_EQ(CompressCounts({2, 2, 1}), "2(x2),1");
  EXPECT_EQ(CompressCounts({}), "");
}

// Names with and without zeros in front, each once, in any order.
std::vector<std::string> SomeNames() {
  const auto numbers = *rc::gen::unique<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 4), rc::gen::inRange(0, 130)));
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const auto& [width, number] : numbers) {
    std::string digits = std::to_string(number);
    const auto wanted = static_cast<std::size_t>(width);
    digits.insert(0, wanted - std::min(wanted, digits.size()), '0');
    std::string name = (width == 3 ? "gpu" : "node") + digits;
    if (seen.insert(name).second) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

RC_GTEST_PROP(CompressHostlist, ExpandingGivesTheSameNames, ()) {
  const std::vector<std::string> names = SomeNames();
  RC_PRE(!names.empty());
  const std::multiset<std::string> all(names.begin(), names.end());
  for (const HostOrder order : {HostOrder::kSorted, HostOrder::kAsGiven}) {
    const std::vector<std::string> back = ExpandHostlist(CompressHostlist(names, order)).value();
    RC_ASSERT(std::multiset<std::string>(back.begin(), back.end()) == all);
  }
}

RC_GTEST_PROP(CompressHostlist, NamesOfOneWidthKeepTheirOrder, ()) {
  const auto numbers = *rc::gen::unique<std::vector<int>>(rc::gen::inRange(100, 1000));
  RC_PRE(!numbers.empty());
  std::vector<std::string> names;
  for (const int number : numbers) {
    names.push_back("n" + std::to_string(number));
  }
  RC_ASSERT(ExpandHostlist(CompressHostlist(names, HostOrder::kAsGiven)).value() == names);
}

}  // namespace
}  // namespace muster
