#include "agent/kernels/harness/command_line.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace muster::kernels {
namespace {

TEST(ParseCountTest, ReadsWholeNumbersWithBinarySuffixes) {
  EXPECT_EQ(ParseCount("0"), 0);
  EXPECT_EQ(ParseCount("-1"), -1);
  EXPECT_EQ(ParseCount("12"), 12);
  EXPECT_EQ(ParseCount("3K"), 3 * 1024);
  EXPECT_EQ(ParseCount("2M"), 2 * 1024 * 1024);
  EXPECT_EQ(ParseCount("1G"), int64_t{1} << 30);
  EXPECT_EQ(ParseCount("1T"), int64_t{1} << 40);
  EXPECT_EQ(ParseCount("9223372036854775807"), INT64_MAX);
}

TEST(ParseCountTest, RefusesEverythingElse) {
  for (const char* text :
       {"", " ", "1 ", " 1", "+1", "10Q", "10k", "K", "1KK", "1.5", "0x10", "1e9",
        "9223372036854775808", "9007199254740992K", "-9007199254740993K", "nan"}) {
    EXPECT_EQ(ParseCount(text), std::nullopt) << text;
  }
}

TEST(ParseRealTest, ReadsFiniteNumbersOnly) {
  EXPECT_EQ(ParseReal("0.25"), 0.25);
  EXPECT_EQ(ParseReal("1e-3"), 1e-3);
  for (const char* text : {"", "x", "0.25x", "nan", "inf", "1e999", " 1"}) {
    EXPECT_EQ(ParseReal(text), std::nullopt) << text;
  }
}

TEST(PrintableTest, KeepsAMessageOnOneShortLine) {
  EXPECT_EQ(Printable("a\nb\x1b[2J\x7f"), "a?b?[2J?");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(Printable(std::string(1 << 20, 'x')), std::string(60, 'x') + "...");
}

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() : line_("prog", "does things.", "prog --n 4") {
    line_.AddCount("n", "how many", &n_, 1, 100);
    line_.AddReal("alpha", "how much", &alpha_, 0, 1);
    line_.AddSwitch("json", "print JSON", &json_);
    line_.AddText("only", "which", &only_, {"all", "some"});
    line_.AddText("out", "where to", &out_file_);
  }

  std::optional<int> Parse(const std::vector<std::string>& arguments) {
    return line_.Parse(arguments, out_, err_);
  }

  int64_t n_ = 8;
  double alpha_ = 0.5;
  bool json_ = false;
  std::string only_ = "all";
  std::string out_file_;
  CommandLine line_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(CommandLineTest, NoArgumentsLeaveTheDefaults) {
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_EQ(n_, 8);
  EXPECT_EQ(alpha_, 0.5);
  EXPECT_FALSE(json_);
}

TEST_F(CommandLineTest, ValuesFollowTheFlagOrAnEqualsSign) {
  EXPECT_EQ(Parse({"--n", "5", "--alpha=0.75", "--json"}), std::nullopt);
  EXPECT_EQ(n_, 5);
  EXPECT_EQ(alpha_, 0.75);
  EXPECT_TRUE(json_);
}

TEST_F(CommandLineTest, TextIsOneOfItsChoicesOrAnything) {
  EXPECT_EQ(Parse({"--only=some", "--out", "a b"}), std::nullopt);
  EXPECT_EQ(only_, "some");
  EXPECT_EQ(out_file_, "a b");
}

TEST_F(CommandLineTest, TheLastValueOfAFlagCounts) {
  EXPECT_EQ(Parse({"--n", "5", "--n=6"}), std::nullopt);
  EXPECT_EQ(n_, 6);
}

TEST_F(CommandLineTest, HelpShowsPurposeOptionsDefaultsAndExample) {
  EXPECT_EQ(Parse({"--help"}), kExitOk);
  EXPECT_NE(out_.str().find("prog: does things."), std::string::npos);
  EXPECT_NE(out_.str().find("how many (default 8)"), std::string::npos);
  EXPECT_NE(out_.str().find("example:\n  prog --n 4\n"), std::string::npos);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CommandLineTest, BadInputIsOneLineAndExitTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--n", "0"}, "prog: --n: '0' is outside 1..100; see prog --help\n"},
      {{"--n", "101"}, "prog: --n: '101' is outside 1..100; see prog --help\n"},
      {{"--n", "-1"}, "prog: --n: '-1' is outside 1..100; see prog --help\n"},
      {{"--n", "1\n2"},
       "prog: --n: '1?2' is not a whole number (such as 4096 or 16M); see prog --help\n"},
      {{"--n"}, "prog: --n: needs a value; see prog --help\n"},
      {{"--n="}, "prog: --n: '' is not a whole number (such as 4096 or 16M); see prog --help\n"},
      {{"--alpha", "2"}, "prog: --alpha: '2' is outside 0..1; see prog --help\n"},
      {{"--alpha", "nan"}, "prog: --alpha: 'nan' is not a number; see prog --help\n"},
      {{"--json=1"}, "prog: --json: takes no value; see prog --help\n"},
      {{"--only", "none"}, "prog: --only: 'none' is none of all, some; see prog --help\n"},
      {{"--out="}, "prog: --out: needs a value; see prog --help\n"},
      {{"-n", "4"}, "prog: unknown option '-n'; see prog --help\n"},
      {{"--nn", "4"}, "prog: unknown option '--nn'; see prog --help\n"},
      {{""}, "prog: unknown option ''; see prog --help\n"},
  };
  for (const auto& [arguments, expected] : cases) {
    err_.str("");
    EXPECT_EQ(Parse(arguments), kExitUsage) << expected;
    EXPECT_EQ(err_.str(), expected);
  }
  EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace muster::kernels
