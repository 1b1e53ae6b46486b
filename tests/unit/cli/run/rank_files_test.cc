#include "cli/run/rank_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

RankSource Rank(int rank) {
  return {.rank = absl::StrCat(rank), .node_index = 1, .node = "n7"};
}

TEST(RankFiles, PatternsNameTheRankItsNodeAndTheStep) {
  const StepNames names{.job = JobId(12), .step = StepId(3), .job_name = "a/b"};
  const std::vector<std::pair<const char*, const char*>> kCases = {
      {"out.%t", "out.5"}, {"%j.%s-%3t", "12.3-005"},
      {"%n,%N", "1,n7"},   {"%x", "a_b"},
      {"%J", "12.3"},      {"%A_%2a-%u", "12_00-"},
      {"100%%", "100%"},   {"%", "%"},
      {"%z%4", "%z%4"},    {"", ""}};
  for (const auto& [pattern, path] : kCases) {
    EXPECT_EQ(ExpandRankPattern(pattern, names, Rank(5)), path) << pattern;
  }
  const StepNames element{.job = JobId(13),
                          .step = StepId(1),
                          .job_name = "",
                          .array_job = "12",
                          .array_index = "4",
                          .user = "ada"};
  EXPECT_EQ(ExpandRankPattern("%A_%a.%u", element, Rank(5)), "12_4.ada");
}

TEST(RankFiles, EachRankHasItsOwnFileAndErrorsGoWhereTheOutputGoes) {
  const TempDirectory directory;
  RankFiles files({.output = "%t.out", .error = "", .append = false, .work_dir = directory.path()});
  ASSERT_TRUE(WriteFileAtomically(directory / "0.out", "of a run before\n").ok());
  EXPECT_EQ(files.Write(Rank(0), false, "a").value(), RankFiles::Place::kElsewhere);
  EXPECT_EQ(files.Write(Rank(1), false, "b").value(), RankFiles::Place::kElsewhere);
  EXPECT_EQ(files.Write(Rank(0), true, "c").value(), RankFiles::Place::kElsewhere);
  EXPECT_EQ(ReadFile(directory / "0.out").value(), "ac");
  EXPECT_EQ(ReadFile(directory / "1.out").value(), "b");
}

TEST(RankFiles, AppendKeepsWhatIsThere) {
  const TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "out", "before ").ok());
  RankFiles files({.output = "out", .error = "none", .append = true, .work_dir = directory.path()});
  EXPECT_TRUE(files.Write(Rank(0), false, "after").ok());
  EXPECT_EQ(files.Write(Rank(0), true, "lost").value(), RankFiles::Place::kElsewhere);
  EXPECT_EQ(ReadFile(directory / "out").value(), "before after");
}

TEST(RankFiles, ANumberShowsThatRankAlone) {
  RankFiles files({.output = "1", .error = "all", .append = false, .work_dir = "/"});
  EXPECT_EQ(files.Write(Rank(1), false, "x").value(), RankFiles::Place::kTerminal);
  EXPECT_EQ(files.Write(Rank(0), false, "x").value(), RankFiles::Place::kElsewhere);
  EXPECT_EQ(files.Write(Rank(0), true, "x").value(), RankFiles::Place::kTerminal);
}

TEST(RankFiles, MoreFilesThanDescriptorsAreWrittenAllTheSame) {
  const TempDirectory directory;
  rlimit old = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  RankFiles files({.output = "%t", .error = "", .append = false, .work_dir = directory.path()});
  constexpr int kRanks = 100;
  rlimit few = {.rlim_cur = 40, .rlim_max = old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  for (const char* word : {"one,", "two"}) {
    for (int rank = 0; rank < kRanks; ++rank) {
      const absl::StatusOr<RankFiles::Place> place = files.Write(Rank(rank), false, word);
      EXPECT_TRUE(place.ok()) << place.status();
    }
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(ReadFile(directory / absl::StrCat(rank)).value(), "one,two") << rank;
  }
}

TEST(RankFiles, AFileThatCannotBeWrittenIsNamed) {
  const TempDirectory directory;
  RankFiles files({.output = "no/%t", .error = "", .append = false, .work_dir = directory.path()});
  EXPECT_THAT(std::string(files.Check().message()), HasSubstr("--output: " + (directory / "no")));
  EXPECT_THAT(std::string(files.Write(Rank(0), false, "x").status().message()),
              HasSubstr(directory / "no/0"));
}

}  // namespace
}  // namespace muster::cli
