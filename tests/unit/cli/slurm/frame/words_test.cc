// Command lines as getopt_long reads them.

#include "cli/slurm/frame/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {
namespace {

using ::testing::ElementsAre;

constexpr Row kRows[] = {
    {"jobs", 'j', Takes::kValue},     {"noheader", 'h', Takes::kNothing},
    {"name", 'n', Takes::kValue},     {"nodelist", 'w', Takes::kValue},
    {"clusters", 'M', Takes::kValue}, {"cluster", 'M', Takes::kValue},
    {"nice", 0, Takes::kOptional},    {"kill-on-bad-exit", 'K', Takes::kOptional},
    {"", 'r', Takes::kNothing},
};

Words Read(const std::vector<std::string>& arguments, Operands operands = Operands::kAnywhere) {
  return ReadWords(kRows, operands, arguments).value();
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  return std::string(ReadWords(kRows, Operands::kAnywhere, arguments).status().message());
}

TEST(Words, ALongOptionTakesItsValueFromTheSameWordOrTheNext) {
  EXPECT_EQ(Read({"--jobs=1,2"}).Value("jobs"), "1,2");
  EXPECT_EQ(Read({"--jobs", "1,2"}).Value("jobs"), "1,2");
  EXPECT_EQ(Read({"--jobs="}).Value("jobs"), "");
}

TEST(Words, APrefixThatOneOptionHasNamesIt) {
  EXPECT_EQ(Read({"--job", "7"}).Value("jobs"), "7");
  EXPECT_EQ(Read({"--clus=all"}).Value("clusters"), "all") << "two names of one option";
  EXPECT_EQ(Read({"--name=x"}).Value("name"), "x");
  EXPECT_EQ(ErrorOf({"--no=x"}),
            "option '--no' is ambiguous; possibilities: '--noheader' '--nodelist'");
}

TEST(Words, LettersBundleAndTakeTheRestOfTheirWord) {
  const Words words = Read({"-rhj7", "-n", "x"});
  EXPECT_TRUE(words.Has("r") && words.Has("noheader"));
  EXPECT_EQ(words.Value("jobs"), "7");
  EXPECT_EQ(words.Value("name"), "x");
}

TEST(Words, AnOptionalValueStandsInTheSameWordAlone) {
  EXPECT_EQ(Read({"--nice", "5"}).operands, std::vector<std::string>{"5"});
  EXPECT_FALSE(Read({"--nice"}).options[0].has_value);
  EXPECT_EQ(Read({"--nice=5"}).Value("nice"), "5");
  EXPECT_EQ(Read({"-K0"}).Value("kill-on-bad-exit"), "0");
  EXPECT_FALSE(Read({"-K"}).options[0].has_value);
}

TEST(Words, OperandsStandAnywhereOrEndTheOptions) {
  EXPECT_THAT(Read({"7", "-h", "8", "--", "-j"}).operands, ElementsAre("7", "8", "-j"));
  const Words last = Read({"-h", "job.sh", "-j", "x"}, Operands::kLast);
  EXPECT_THAT(last.operands, ElementsAre("job.sh", "-j", "x"));
  EXPECT_FALSE(last.Has("jobs"));
  EXPECT_THAT(Read({"-"}).operands, ElementsAre("-"));
}

TEST(Words, TheLastValueCountsAndAllAreKept) {
  const Words words = Read({"-j1", "-j", "2"});
  EXPECT_EQ(words.Value("jobs"), "2");
  EXPECT_THAT(words.options,
              ElementsAre(GivenWord{"jobs", "1", true}, GivenWord{"jobs", "2", true}));
}

TEST(Words, ErrorsAreThoseOfTheCLibrary) {
  EXPECT_EQ(ErrorOf({"--foo=1"}), "unrecognized option '--foo'");
  EXPECT_EQ(ErrorOf({"-z"}), "invalid option -- 'z'");
  EXPECT_EQ(ErrorOf({"--jobs"}), "option '--jobs' requires an argument");
  EXPECT_EQ(ErrorOf({"-j"}), "option requires an argument -- 'j'");
  EXPECT_EQ(ErrorOf({"--noheader=1"}), "option '--noheader' doesn't allow an argument");
}

TEST(Words, EveryCommandTellsItsVersionInTwoWords) {
  const Environment environment;
  for (const char* const word : {"--version", "-V"}) {
    std::ostringstream out;
    std::ostringstream err;
    int code = 7;
    EXPECT_FALSE(
        ReadCommand({environment, "squeue", {word}, out, err}, kRows, Operands::kAnywhere, &code)
            .has_value());
    EXPECT_EQ(out.str(), "slurm 24.05.8\n");
    EXPECT_EQ(code, 0);
  }
}

TEST(Words, AnUnknownOptionIsOneLineAndExitCodeOne) {
  const Environment environment;
  std::ostringstream out;
  std::ostringstream err;
  int code = 0;
  EXPECT_FALSE(
      ReadCommand({environment, "squeue", {"--x"}, out, err}, kRows, Operands::kAnywhere, &code)
          .has_value());
  EXPECT_EQ(err.str(), "squeue: unrecognized option '--x'\n");
  EXPECT_EQ(code, 1);
}

}  // namespace
}  // namespace muster::cli::slurm
