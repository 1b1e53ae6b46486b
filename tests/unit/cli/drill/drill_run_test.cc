#include "cli/drill/drill_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "scheduler/runtime/signals.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::cli {
namespace {

// A job with one checkpoint, and no controller that answers.
class DrillRunTest : public checkpoint::StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    kept_ = directory_ / "kept";
    std::filesystem::create_directory(kept_);
    checkpoint::Store store = Open();
    ASSERT_FALSE(WriteGeneration(&store, "a", 1, "12").failed());
    const Address nowhere = ParseAddress("unix:" + (directory_ / "none.sock").string()).value();
    constexpr std::chrono::milliseconds kPatience{10};
    connection_ = Connection::Open(nowhere, {.changing = kPatience, .reading = kPatience}).value();
  }
  [[nodiscard]] checkpoint::Store Open() const {
    return checkpoint::Store::Open(checkpoint::Disk::Real(), kept_.string()).value;
  }
  [[nodiscard]] DrillSubject Subject() const {
    DrillSubject subject{.selector = {JobId(12)}, .job = {}};
    subject.job.job.id = JobId(12);
    subject.job.job.label = "12";
    subject.submission.first = JobId(12);
    subject.submission.program.script = "#!/bin/sh\n";
    subject.submission.program.work_dir = directory_.string();
    subject.directory = kept_.string();
    subject.store = Open();
    subject.generation = ChooseGeneration(subject.store, "12", std::nullopt).value();
    return subject;
  }
  [[nodiscard]] std::size_t Entries() const {
    const std::filesystem::directory_iterator entries(directory_);
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }

  std::filesystem::path kept_;
  std::unique_ptr<Connection> connection_;
  const Environment environment_{std::vector<std::string>()};
  const std::vector<Verb> verbs_;
  const Invocation invocation_{
      .environment = environment_, .verbs = verbs_, .values = {}, .arguments = {}};
  const UniqueFd signals_ = BlockSignals({SIGUSR2}).value();
};

TEST_F(DrillRunTest, WhatCannotBeSubmittedLeavesNothing) {
  DrillOptions options;
  options.timeout = std::chrono::hours(1);
  DrillRun run({*connection_, invocation_, signals_}, options, Subject());
  EXPECT_EQ(run.facts().generation, 1U);
  EXPECT_EQ(run.facts().ranks, kRanks);
  EXPECT_TRUE(absl::IsUnavailable(run.Begin()));
  EXPECT_EQ(Entries(), 2U) << "beside the checkpoints";
  EXPECT_TRUE(run.End().ok());
  EXPECT_EQ(Entries(), 1U);
}

TEST_F(DrillRunTest, WhereItsDirectoryCannotBeMadeItSaysWhatToDo) {
  DrillOptions options;
  options.into = (directory_ / "none").string();
  DrillRun run({*connection_, invocation_, signals_}, options, Subject());
  EXPECT_THAT(std::string(run.Begin().message()), ::testing::HasSubstr("--into DIR"));
  EXPECT_TRUE(run.End().ok());
}

}  // namespace
}  // namespace muster::cli
