#include "daemon/store/copy/store_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/runtime/file.h"
#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

// Something in most tables, more than a page of rows in one.
void Fill(const std::string& directory) {
  auto store = JobStore::Open(directory);
  BatchMaker make;
  Batch batch = make.Of({EpochBegan{Epoch(3), At(1)}, Submitted(1, "token"),
                         SubmittedArray(10, {{0, 2999, 1}}, 3000), JobHeld{JobId(1), true, At(3)}});
  batch.ended = {Ended(1, 1, "ann", "COMPLETED", 50), Ended(10, 10, "ann", "CANCELLED", 60)};
  batch.ended[1].detail.job.indices = {{0, 2499, 1}};
  batch.attempts = {AttemptOf(1, 1)};
  batch.cycles = {CycleRecord{Version(4), At(4), 77, false, std::make_shared<SchedulerConfig>()}};
  ASSERT_TRUE((*store)->Commit({&batch, 1}).ok());
}

std::uint64_t RowsOf(const CopyReport& report, const std::string& table) {
  for (const auto& [name, rows] : report.tables) {
    if (name == table) {
      return rows;
    }
  }
  return 0;
}

TEST(StoreCopyTest, AClusterGoesToAnotherStoreAndBackAndIsTheSame) {
  TempDirectory directory;
  Fill(directory / "one");
  const std::string middle =
      OnPostgres() ? PostgresServer::Shared().MakeDatabase() : "sqlite:" + (directory / "two");
  const auto there = CopyStore({"sqlite:" + (directory / "one"), middle, "muster"});
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_EQ(RowsOf(*there, "history"), 2501U);
  EXPECT_EQ(RowsOf(*there, "journal"), 4U);
  const auto back = CopyStore({middle, "sqlite:" + (directory / "three"), "muster"});
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->tables, there->tables);
  auto store = JobStore::Open(directory / "three/controller");
  const StateImage image = *(*store)->Load();
  EXPECT_EQ(image.version, Version(4));
  EXPECT_EQ(image.epoch, Epoch(3));
  ASSERT_EQ(image.elements.size(), 1U);
  EXPECT_EQ(image.elements[0].count, 500U);
  EXPECT_EQ(*(*store)->FindToken("token"), JobId(1));
}

TEST(StoreCopyTest, TokensAndTheSecretOfTheirKeyGoAlong) {
  TempDirectory directory;
  Fill(directory / "one");
  const std::string secret(32, 'k');
  ASSERT_TRUE(WriteFileAtomically(directory / "one/job.key", secret).ok());
  ASSERT_TRUE(WriteFileAtomically(directory / "one/tokens.json", "[]\n").ok());
  const std::string middle =
      OnPostgres() ? PostgresServer::Shared().MakeDatabase() : "sqlite:" + (directory / "two");
  const auto there = CopyStore({"sqlite:" + (directory / "one"), middle, "muster"});
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_FALSE(there->tokens_stay);
  const auto back = CopyStore({middle, "sqlite:" + (directory / "three"), "muster"});
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*ReadFile(directory / "three/controller/tokens.json"), "[]\n");
  EXPECT_EQ(*ReadFile(directory / "three/controller/job.key"), secret);
}

TEST(StoreCopyTest, AKeyOfTheTokensOwnGoesWhereFilesGo) {
  TempDirectory directory;
  Fill(directory / "one");
  ASSERT_TRUE(WriteFileAtomically(directory / "one/token.key", "pem").ok());
  ASSERT_TRUE(WriteFileAtomically(directory / "one/tokens.json", "[]\n").ok());
  const std::string target =
      OnPostgres() ? PostgresServer::Shared().MakeDatabase() : "sqlite:" + (directory / "two");
  const auto there = CopyStore({"sqlite:" + (directory / "one"), target, "muster"});
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_EQ(there->tokens_stay, OnPostgres());
  if (!OnPostgres()) {
    EXPECT_EQ(*ReadFile(directory / "two/controller/token.key"), "pem");
  }
}

TEST(StoreCopyTest, AStoreThatHoldsRowsIsRefused) {
  TempDirectory directory;
  Fill(directory / "one");
  Fill(directory / "two/controller");
  const auto status =
      CopyStore({"sqlite:" + (directory / "one"), "sqlite:" + (directory / "two"), ""}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("holds rows already (journal)"));
}

TEST(StoreCopyTest, AStoreWithAControllerAtWorkIsRefused) {
  TempDirectory directory;
  Fill(directory / "one");
  auto store = JobStore::Open(directory / "one");
  const auto status =
      CopyStore({"sqlite:" + (directory / "one"), "sqlite:" + (directory / "two"), ""}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("locked by process"));
}

TEST(StoreCopyTest, WhatIsNoStoreIsSaid) {
  EXPECT_TRUE(absl::IsInvalidArgument(CopyStore({"DIR", "sqlite:x", ""}).status()));
  EXPECT_THAT(std::string(CopyStore({"sqlite:/nowhere", "sqlite:x", ""}).status().message()),
              HasSubstr("no state.db there"));
}

}  // namespace
}  // namespace muster::daemon
