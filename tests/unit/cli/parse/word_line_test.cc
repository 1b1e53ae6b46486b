#include "cli/parse/word_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Words(std::string_view line) {
  const absl::StatusOr<std::vector<std::string>> words = ParseWordLine(line);
  EXPECT_TRUE(words.ok()) << words.status();
  return words.value_or(std::vector<std::string>());
}

TEST(WordLine, BlanksStandBetweenWords) {
  EXPECT_THAT(Words("  -n 4\t job.sh a\r"), ElementsAre("-n", "4", "job.sh", "a"));
}

TEST(WordLine, QuotesKeepBlanksAndEmptyWords) {
  EXPECT_THAT(Words(R"(--wrap 'echo "a b"' "" x"y z")"),
              ElementsAre("--wrap", R"(echo "a b")", "", "xy z"));
}

TEST(WordLine, ABackslashTakesTheMeaningOfWhatFollows) {
  EXPECT_THAT(Words(R"(a\ b "c\"d" 'e\f' "\n")"), ElementsAre("a b", "c\"d", R"(e\f)", R"(\n)"));
}

TEST(WordLine, ACommentHasNoWords) {
  EXPECT_THAT(Words("# -n 4"), IsEmpty());
  EXPECT_THAT(Words(""), IsEmpty());
  EXPECT_THAT(Words("a#b # c"), ElementsAre("a#b"));
}

TEST(WordLine, AQuoteThatIsNeverClosedIsRefused) {
  EXPECT_FALSE(ParseWordLine("--wrap 'true").ok());
  EXPECT_FALSE(ParseWordLine("\"a").ok());
}

}  // namespace
}  // namespace muster::cli
