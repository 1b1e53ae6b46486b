#include "cli/parse/request/rank_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::string Error(std::string_view text) {
  return std::string(ParseRankPrograms(text, "f").status().message());
}

TEST(RankPrograms, ALineHasRanksAProgramAndWords) {
  const auto programs = ParseRankPrograms(
                            "# who does what\n\n0 ./first \"a b\" 'c'\\ d\n"
                            "1-3,5\t./rest %t  # the others\n* ./last",
                            "f")
                            .value();
  ASSERT_THAT(programs, SizeIs(3));
  EXPECT_EQ(programs[0].line, 3);
  EXPECT_THAT(programs[0].ranks, ElementsAre(RankRange{0, 0}));
  EXPECT_THAT(programs[0].argv, ElementsAre("./first", "a b", "c d"));
  EXPECT_THAT(programs[1].ranks, ElementsAre(RankRange{1, 3}, RankRange{5, 5}));
  EXPECT_THAT(programs[1].argv, ElementsAre("./rest", "%t"));
  EXPECT_TRUE(programs[2].ranks.empty());
  EXPECT_EQ(RanksNamed(programs), 0U);
}

TEST(RankPrograms, AMistakeIsToldWithItsLineAndTheMend) {
  EXPECT_EQ(Error("0 a\nx b"), "f:2: \"x\" is not a list of ranks: write one like 0, 1-3,5 or *");
  EXPECT_EQ(Error("3-1 a"), "f:1: \"3-1\" is not a list of ranks: write one like 0, 1-3,5 or *");
  EXPECT_EQ(Error("0"), "f:1: there is no program: write RANKS PROGRAM [ARG…]");
  EXPECT_EQ(Error("0 'a"), "f:1: a quote is not closed: close it on the line");
  EXPECT_EQ(Error("0-2 a\n2 b"), "f:2: has ranks of line 1: name each rank once, and * once");
  EXPECT_EQ(Error("* a\n* b"), "f:2: has ranks of line 1: name each rank once, and * once");
  EXPECT_EQ(Error("# none\n"), "f: names no program: write lines like 0-3 PROGRAM [ARG…]");
}

TEST(RankPrograms, EveryTaskHasAProgramAndEveryRankIsATask) {
  const auto programs = ParseRankPrograms("0 a\n2-3 b", "f").value();
  EXPECT_EQ(RanksNamed(programs), 4U);
  EXPECT_EQ(CheckRanks(programs, 4, "f").message(),
            "f: no line has rank 1: add one, or a line for *");
  EXPECT_EQ(CheckRanks(programs, 3, "f").message(),
            "f:2: rank 3 is not there: there are 3 tasks: use --ntasks=4");
  EXPECT_TRUE(CheckRanks(ParseRankPrograms("0 a\n* b", "f").value(), 9, "f").ok());
}

}  // namespace
}  // namespace muster::cli
