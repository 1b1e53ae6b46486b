#include "cli/jobs/submit/batch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cli/controller/address.h"
#include "cli/frame/verbs.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BatchFileTest : public ::testing::Test {
 protected:
  // What `muster submit --batch FILE`, with these values, makes of a file of this text.
  absl::StatusOr<std::vector<BatchLine>> Read(const std::string& text,
                                              const std::map<std::string, std::string>& values) {
    std::ofstream(path_) << text;
    return ReadBatchFile(SubmitVerb(), Asked(values, {}), path_, ParseAddress("unix:/x").value());
  }
  std::string ErrorOf(const std::string& text) {
    const absl::Status status = Read(text, {}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }
  [[nodiscard]] Invocation Asked(const std::map<std::string, std::string>& values,
                                 const std::vector<std::string>& arguments) const {
    return Invocation{
        .environment = environment_, .verbs = verbs_, .values = values, .arguments = arguments};
  }

  const TempDirectory directory_;
  const std::string path_ = directory_ / "jobs.txt";
  const Environment environment_{};
  const std::vector<Verb> verbs_{};
};

TEST_F(BatchFileTest, EachLineIsASubmissionAndKnowsItsNumber) {
  const std::vector<BatchLine> lines =
      Read("# two jobs\n-J one --wrap 'echo 1'\n\n--wrap 'echo 2'\n", {}).value();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].number, 2U);
  EXPECT_EQ(lines[0].request.spec.name, "one");
  EXPECT_THAT(lines[0].request.program.script, HasSubstr("\necho 1\n"));
  EXPECT_EQ(lines[1].number, 4U);
  EXPECT_THAT(lines[1].request.program.script, HasSubstr("\necho 2\n"));
}

TEST_F(BatchFileTest, TheOptionsOfTheCallHoldForEveryLineAndItsOwnWin) {
  const std::vector<BatchLine> lines =
      Read("-J one --wrap true\n--wrap true\n", {{"job-name", "asked"}, {"ntasks", "3"}}).value();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].request.spec.name, "one");
  EXPECT_EQ(lines[1].request.spec.name, "asked");
  EXPECT_EQ(lines[0].request.spec.request.tasks, 3U);
}

TEST_F(BatchFileTest, AScriptMayBeNamedByManyLinesWithArgumentsOfItsOwn) {
  const std::string script = directory_ / "job.sh";
  std::ofstream(script) << "#!/bin/sh\ntrue\n";
  const std::vector<BatchLine> lines = Read(script + " a\n" + script + " 'b c'\n", {}).value();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0].request.program.argv, ElementsAre("a"));
  EXPECT_THAT(lines[1].request.program.argv, ElementsAre("b c"));
  EXPECT_EQ(lines[1].request.program.script, "#!/bin/sh\ntrue\n");
}

TEST_F(BatchFileTest, OneBadLineRefusesTheFileAndIsNamed) {
  EXPECT_THAT(ErrorOf("--wrap true\n-n many --wrap true\n"), StartsWith(path_ + ":2: "));
  EXPECT_THAT(ErrorOf("--wrap 'true\n"), StartsWith(path_ + ":1: "));
  EXPECT_THAT(ErrorOf("-n 2\n"), StartsWith(path_ + ":1: missing SCRIPT"));
  EXPECT_EQ(ErrorOf("\n--help\n"), path_ + ":2: --help: not in a line of a batch");
}

TEST_F(BatchFileTest, WhatIsOfTheWholeCallIsNotInALine) {
  EXPECT_EQ(ErrorOf("--wait --wrap true\n"), path_ + ":1: --wait: not in a line of a batch");
  EXPECT_EQ(ErrorOf("--batch more.txt\n"), path_ + ":1: --batch: not in a line of a batch");
}

TEST_F(BatchFileTest, AFileThatIsNotThereIsAnError) {
  const absl::Status status = ReadBatchFile(SubmitVerb(), Asked({}, {}), directory_ / "none",
                                            ParseAddress("unix:/x").value())
                                  .status();
  EXPECT_FALSE(status.ok());
}

TEST_F(BatchFileTest, AScriptIsNamedInOneWay) {
  EXPECT_EQ(ReadScriptOf(Asked({{"wrap", "true"}}, {}))->name, "wrap");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadScriptOf(Asked({}, {})).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(ReadScriptOf(Asked({{"wrap", "true"}}, {"job.sh"})).status()));
}

TEST_F(BatchFileTest, ALineMayStageFiles) {
  const std::vector<BatchLine> lines = Read("--stage-in a:/a --wrap true\n", {}).value();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].request.program.stage_in.size(), 1U);
  EXPECT_THAT(ErrorOf("--stage-in a --wrap true\n"), HasSubstr("jobs.txt:1: --stage-in: "));
}

}  // namespace
}  // namespace muster::cli
