#include "cli/parse/request/directives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(Directives, EndAtTheFirstCommand) {
  const auto lines = ParseDirectives(
                         "#!/bin/sh\n"
                         "#SBATCH -N 2 --mem=4G\n"
                         "\n"
                         "# a remark\n"
                         "#MUSTER\t--time 10\r\n"
                         "echo hi\n"
                         "#SBATCH -n 4\n")
                         .value();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].line, 2);
  EXPECT_THAT(lines[0].words, ElementsAre("-N", "2", "--mem=4G"));
  EXPECT_EQ(lines[1].line, 5);
  EXPECT_THAT(lines[1].words, ElementsAre("--time", "10"));
  EXPECT_TRUE(lines[0].of_slurm);
  EXPECT_FALSE(lines[1].of_slurm);
}

TEST(Directives, HetjobBeginsTheNextComponent) {
  const auto lines =
      ParseDirectives("#!/bin/sh\n#SBATCH -n 4\n#SBATCH hetjob\n#MUSTER -n 1 -G 1\n").value();
  const auto components = SplitComponents(lines);
  ASSERT_EQ(components.size(), 2U);
  ASSERT_EQ(components[0].size(), 1U);
  ASSERT_EQ(components[1].size(), 1U);
  EXPECT_THAT(components[1][0].words, ElementsAre("-n", "1", "-G", "1"));
}

TEST(Directives, QuotesAndBackslashesProtect) {
  const auto lines =
      ParseDirectives(
          "#SBATCH --comment='a  \"b' -J \"x \\\" y\" -o a\\ b # the rest is a remark\n")
          .value();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0].words, ElementsAre("--comment=a  \"b", "-J", "x \" y", "-o", "a b"));
}

TEST(Directives, OnlyExactMarkersCount) {
  EXPECT_TRUE(ParseDirectives("#SBATCHX -N 2\n##SBATCH -N 2\n# SBATCH -N 2\n").value().empty());
  EXPECT_TRUE(ParseDirectives("").value().empty());
  EXPECT_TRUE(ParseDirectives("#SBATCH").value().empty());
}

TEST(Directives, AnOpenQuoteNamesItsLine) {
  EXPECT_THAT(std::string(ParseDirectives("#!/bin/sh\n#SBATCH -J 'x\n").status().message()),
              StartsWith("2: a ' is never closed"));
}

}  // namespace
}  // namespace muster::cli
