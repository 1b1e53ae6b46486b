#include "daemon/store/sqlite/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "daemon/store/database/database.h"
#include "daemon/store/sqlite/sqlite_engine.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

class SqliteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto database = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kReadWrite);
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
    ASSERT_TRUE(database_->Execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x ANY) STRICT").ok());
  }
  TempDirectory directory_;
  const std::string path_ = directory_ / "x.db";
  std::unique_ptr<Database> database_;
};

TEST_F(SqliteTest, TheFileIsOursAlone) {
  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(SqliteTest, ValuesComeBackAsTheyWereBound) {
  Statement insert(*database_, "INSERT INTO t VALUES (?, ?)");
  const std::string quote = "'); DROP TABLE t; --";
  const std::string bytes("a\0b", 3);
  ASSERT_TRUE(insert.Run(std::uint64_t{1}, quote).ok());
  ASSERT_TRUE(insert.Run(2, Blob{bytes}).ok());
  ASSERT_TRUE(insert.Run(3, std::optional<std::int64_t>()).ok());
  ASSERT_TRUE(insert.Run(4, std::numeric_limits<std::uint64_t>::max()).ok());
  Statement rows(*database_, "SELECT x FROM t ORDER BY id");
  ASSERT_TRUE(*rows.Next());
  EXPECT_EQ(rows.Text(0), quote);
  ASSERT_TRUE(*rows.Next());
  EXPECT_EQ(rows.Bytes(0), bytes);
  ASSERT_TRUE(*rows.Next());
  EXPECT_TRUE(rows.IsNull(0));
  ASSERT_TRUE(*rows.Next());
  EXPECT_EQ(rows.Unsigned(0), std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(*rows.Next());
}

TEST_F(SqliteTest, AnUncommittedTransactionIsUndone) {
  {
    Transaction transaction(*database_);
    ASSERT_TRUE(transaction.Begin(Transaction::Kind::kWrite).ok());
    ASSERT_TRUE(database_->Execute("INSERT INTO t VALUES (1, 1)").ok());
  }
  EXPECT_EQ(*database_->ReadInteger("SELECT count(*) FROM t"), 0);
}

TEST_F(SqliteTest, AStatementThatCannotBePreparedSaysSoWhenRun) {
  Statement wrong(*database_, "INSERT INTO nowhere VALUES (?)");
  const absl::Status status = wrong.Run(1);
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("no such table: nowhere"));
  EXPECT_FALSE(wrong.Run(1).ok());
}

TEST_F(SqliteTest, AFullDatabaseIsResourceExhaustedAndRecovers) {
  ASSERT_TRUE(database_->Execute("PRAGMA journal_mode = WAL; PRAGMA max_page_count = 4").ok());
  const std::string large(100000, 'x');
  Statement insert(*database_, "INSERT INTO t VALUES (?, ?)");
  {
    Transaction transaction(*database_);
    ASSERT_TRUE(transaction.Begin(Transaction::Kind::kWrite).ok());
    const absl::Status status = insert.Run(1, large);
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("x.db: database or disk is full; free"));
  }
  ASSERT_TRUE(database_->Execute("PRAGMA max_page_count = 1000").ok());
  EXPECT_TRUE(insert.Run(1, large).ok());
}

TEST_F(SqliteTest, AFileIsNobodyElsesToLead) {
  auto engine = SqliteEngine::Open(directory_ / "");
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ((*engine)->leadership(), nullptr);
  EXPECT_TRUE((*engine)->Fence().ok());
}

TEST_F(SqliteTest, AReadOnlyDatabaseIsUnavailableForWriting) {
  auto reader = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kReadOnly);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(absl::IsUnavailable((*reader)->Execute("INSERT INTO t VALUES (1, 1)")));
}

// A store's file of many pages, one of them overwritten.
std::string DamagedStore(const TempDirectory& directory) {
  {
    auto engine = SqliteEngine::Open(directory.path());
    EXPECT_TRUE(engine.ok()) << engine.status();
    Statement put((*engine)->writer(), "INSERT INTO tunings VALUES (?, '', '', '', 1, ?, 1)");
    for (int i = 0; i < 2000; ++i) {
      EXPECT_TRUE(put.Run(std::to_string(i), std::string(200, 'x')).ok());
    }
    EXPECT_TRUE((*engine)->writer().Execute("PRAGMA wal_checkpoint(TRUNCATE)").ok());
  }
  const std::string path = directory / "state.db";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2 / 4096 * 4096));
  file << std::string(4096, '\xff');
  return path;
}

TEST(SqliteEngine, ADamagedFileIsRefusedAtStart) {
  const TempDirectory directory;
  DamagedStore(directory);
  const absl::Status refused = SqliteEngine::Open(directory.path()).status();
  EXPECT_TRUE(absl::IsDataLoss(refused)) << refused;
}

TEST(SqliteEngine, ALargeFileIsCheckedBesideItsUseAndNothingIsWrittenOnceDamageIsFound) {
  const TempDirectory directory;
  DamagedStore(directory);
  auto engine = SqliteEngine::Open(directory.path(), /*checked_first=*/0);
  ASSERT_TRUE(engine.ok()) << engine.status();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while ((*engine)->Fence().ok() && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(absl::IsDataLoss((*engine)->Fence())) << (*engine)->Fence();
}

TEST(SqliteEngine, ALargeFileThatIsWholeIsUsedAtOnceAndClosedInTheMiddleOfItsCheck) {
  const TempDirectory directory;
  ASSERT_TRUE(SqliteEngine::Open(directory.path()).ok());
  for (int i = 0; i < 20; ++i) {
    auto engine = SqliteEngine::Open(directory.path(), /*checked_first=*/0);
    ASSERT_TRUE(engine.ok()) << engine.status();
    EXPECT_TRUE((*engine)->Fence().ok());
    EXPECT_TRUE((*engine)->writer().Execute("INSERT INTO meta VALUES ('x', 1)").ok());
    EXPECT_TRUE((*engine)->writer().Execute("DELETE FROM meta WHERE key = 'x'").ok());
  }
}

}  // namespace
}  // namespace muster::daemon
