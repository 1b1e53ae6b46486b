#include "cli/links/link_rounds.h"

#include <gtest/gtest.h>

#include <set>

namespace muster::cli {
namespace {

TEST(LinkRounds, EachPairMeetsOnceAndNoNodeTwiceInARound) {
  for (std::size_t nodes = 0; nodes < 40; ++nodes) {
    std::set<std::pair<std::size_t, std::size_t>> met;
    for (const LinkRound& round : LinkRounds(nodes, 1000)) {
      std::set<std::size_t> busy;
      for (const auto& [a, b] : round) {
        EXPECT_LT(a, b);
        EXPECT_LT(b, nodes);
        EXPECT_TRUE(busy.insert(a).second && busy.insert(b).second) << nodes;
        EXPECT_TRUE(met.emplace(a, b).second) << a << " and " << b << " of " << nodes;
      }
      EXPECT_EQ(round.size(), nodes / 2);
    }
    EXPECT_EQ(met.size(), nodes < 2 ? 0 : nodes * (nodes - 1) / 2) << nodes;
  }
}

TEST(LinkRounds, FewRoundsGiveEachNodeAsManyPartners) {
  const std::vector<LinkRound> rounds = LinkRounds(1000, 31);
  EXPECT_EQ(rounds.size(), 31U);
  std::set<std::pair<std::size_t, std::size_t>> met;
  for (const LinkRound& round : rounds) {
    EXPECT_EQ(round.size(), 500U);
    met.insert(round.begin(), round.end());
  }
  EXPECT_EQ(met.size(), 31U * 500);
}

}  // namespace
}  // namespace muster::cli
