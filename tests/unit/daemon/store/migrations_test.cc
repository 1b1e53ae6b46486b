#include "daemon/store/sqlite/migrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "daemon/store/sqlite/sqlite.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

class MigrationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto database = SqliteDatabase::Open(directory_ / "x.db", SqliteDatabase::Mode::kReadWrite);
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }
  std::int64_t Number(const std::string& sql) { return database_->ReadInteger(sql).value_or(-1); }
  TempDirectory directory_;
  std::unique_ptr<Database> database_;
};

constexpr Migration kOne = {1, "CREATE TABLE a (x INTEGER) STRICT"};

TEST_F(MigrationsTest, TheKnownStepsAreNumberedFromOneWithoutAGap) {
  std::int64_t expected = 1;
  for (const Migration& migration : Migrations()) {
    EXPECT_EQ(migration.version, expected++);
  }
  ASSERT_TRUE(Migrate(*database_).ok());
  EXPECT_EQ(Number("PRAGMA user_version"), expected - 1);
  EXPECT_TRUE(Migrate(*database_).ok()) << "again changes nothing";
}

TEST_F(MigrationsTest, AnInterruptedStepLeavesTheVersionBefore) {
  const std::array<Migration, 2> broken = {
      {kOne, {2, "CREATE TABLE b (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1)"}}};
  EXPECT_FALSE(Migrate(*database_, broken).ok());
  EXPECT_EQ(Number("PRAGMA user_version"), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
  const std::array<Migration, 2> mended = {{kOne, {2, "CREATE TABLE b (x INTEGER) STRICT"}}};
  EXPECT_TRUE(Migrate(*database_, mended).ok());
  EXPECT_EQ(Number("PRAGMA user_version"), 2);
  EXPECT_EQ(Number("SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 1);
}

TEST_F(MigrationsTest, ANewerDatabaseIsRefused) {
  const std::array<Migration, 2> newer = {{kOne, {99, "CREATE TABLE c (x INTEGER) STRICT"}}};
  ASSERT_TRUE(Migrate(*database_, newer).ok());
  const absl::Status status = Migrate(*database_);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("written by a newer Muster (schema 99, this program knows 19)"));
}

TEST_F(MigrationsTest, AnotherProgramsDatabaseIsRefused) {
  ASSERT_TRUE(database_->Execute("CREATE TABLE theirs (x)").ok());
  const absl::Status status = Migrate(*database_);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("not a database of Muster"));
}

}  // namespace
}  // namespace muster::daemon
