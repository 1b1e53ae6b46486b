#include "cli/page/hostlist.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

namespace muster::cli {
namespace {

// An expander of its own, digit by digit: "a[08-10,3]b" is not read, "a[08-10],c" is.
std::multiset<std::string> Expand(const std::string& list) {
  std::multiset<std::string> names;
  std::string prefix;
  std::string inside;
  bool bracket = false;
  const auto flush = [&] {
    std::istringstream pieces(inside);
    for (std::string piece; std::getline(pieces, piece, ',');) {
      const std::size_t dash = piece.find('-');
      const std::string first = piece.substr(0, dash);
      const std::string last = dash == std::string::npos ? first : piece.substr(dash + 1);
      for (unsigned long n = std::stoul(first); n <= std::stoul(last); ++n) {
        std::string number = std::to_string(n);
        number.insert(0, first.size() - std::min(first.size(), number.size()), '0');
        names.insert(prefix + number);
      }
    }
    if (inside.empty() && !prefix.empty()) {
      names.insert(prefix);
    }
    prefix.clear();
    inside.clear();
  };
  for (const char c : list) {
    if (c == '[' || c == ']') {
      bracket = c == '[';
    } else if (c == ',' && !bracket) {
      flush();
    } else {
      (bracket ? inside : prefix) += c;
    }
  }
  flush();
  return names;
}

TEST(Hostlist, NumbersFoldIntoRuns) {
  EXPECT_EQ(NumberList({}), "");
  EXPECT_EQ(NumberList({5}), "5");
  EXPECT_EQ(NumberList({5, 3, 4, 9, 4}), "3-5,9");
  EXPECT_EQ(NumberList({8, 9, 10}, 3), "008-010");
}

TEST(Hostlist, NamesThatDifferInTheirNumberShareABracket) {
  EXPECT_EQ(Hostlist({}), "");
  EXPECT_EQ(Hostlist({"node1"}), "node1");
  EXPECT_EQ(Hostlist({"node1", "node2", "node3", "node7"}), "node[1-3,7]");
  EXPECT_EQ(Hostlist({"gpu08", "gpu09", "gpu10", "login"}), "gpu[08-10],login");
  EXPECT_EQ(Hostlist({"b2", "a1", "b1"}), "b[1-2],a1");
  EXPECT_EQ(Hostlist({"10.0.0.7", "10.0.0.8"}), "10.0.0.[7-8]");
  EXPECT_EQ(Hostlist({"7", "8"}), "[7-8]");
}

TEST(Hostlist, ZerosInFrontAreKept) {
  EXPECT_EQ(Hostlist({"n1", "n01", "n001"}), "n1,n01,n001");
  EXPECT_EQ(Hostlist({"n99", "n100"}), "n[99-100]");
  EXPECT_EQ(Hostlist({"n0"}), "n0");
}

TEST(Hostlist, ANumberThatIsTooLongStandsAsItIs) {
  const std::string longer = "n1234567890123456789012";
  EXPECT_EQ(Hostlist({longer, "n1"}), longer + ",n1");
}

RC_GTEST_PROP(Hostlist, ExpandingGivesTheSameNames, ()) {
  const auto numbers = *rc::gen::container<std::set<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 4), rc::gen::inRange(0, 130)));
  std::vector<std::string> names;
  for (const auto& [width, number] : numbers) {
    std::string digits = std::to_string(number);
    const auto wanted = static_cast<std::size_t>(width);
    digits.insert(0, wanted - std::min(wanted, digits.size()), '0');
    names.push_back("node" + digits);
  }
  const std::set<std::string> distinct(names.begin(), names.end());
  names.assign(distinct.begin(), distinct.end());
  RC_ASSERT(Expand(Hostlist(names)) == std::multiset<std::string>(names.begin(), names.end()));
}

}  // namespace
}  // namespace muster::cli
