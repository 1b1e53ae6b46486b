#include "daemon/store/postgres/postgres.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <limits>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/store/database/engine.h"
#include "daemon/store/database/leadership.h"
#include "daemon/store/database/schema.h"
#include "daemon/store/postgres/postgres_engine.h"
#include "daemon/store/postgres/postgres_leadership.h"
#include "daemon/store/postgres/postgres_place.h"
#include "daemon/store/postgres/postgres_schema.h"
#include "scheduler/base/status.h"
#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

std::string SettingOf(const PostgresPlace& place, const std::string& keyword) {
  for (const auto& [key, value] : place.settings) {
    if (key == keyword) {
      return value;
    }
  }
  return "";
}

TEST(PostgresPlaceTest, APasswordInTheUrlIsRefusedAndNotRepeated) {
  for (const char* url : {"postgresql://ann:s3cret@db/muster", "postgres://db/m?password=s3cret",
                          "postgresql://db/m?sslpassword=s3cret"}) {
    const absl::Status status = ReadPostgresUrl(url).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << url;
    EXPECT_THAT(std::string(status.message()), HasSubstr("passfile=FILE"));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("s3cret")));
  }
  EXPECT_THAT(std::string(ReadPostgresUrl("postgresql://a:s3cret@[bad").status().message()),
              Not(HasSubstr("s3cret")));
}

TEST(PostgresPlaceTest, OffThisMachineTheCertificateIsVerifiedUnlessTheUrlSaysOtherwise) {
  EXPECT_EQ(SettingOf(*ReadPostgresUrl("postgresql://db.site/m"), "sslmode"), "verify-full");
  EXPECT_EQ(SettingOf(*ReadPostgresUrl("postgresql:///m?service=muster"), "sslmode"),
            "verify-full");
  EXPECT_EQ(SettingOf(*ReadPostgresUrl("postgresql://localhost,db/m"), "sslmode"), "verify-full");
  EXPECT_EQ(SettingOf(*ReadPostgresUrl("postgresql://db/m?sslmode=require"), "sslmode"), "require");
  for (const char* url : {"postgresql://localhost/m", "postgresql://127.0.0.1:5433/m",
                          "postgresql://%2Frun%2Fpostgresql/m", "postgresql://[::1]/m"}) {
    EXPECT_EQ(SettingOf(*ReadPostgresUrl(url), "sslmode"), "") << url;
  }
}

TEST(PostgresPlaceTest, OfSeveralHostsTheOneThatTakesWritesIsMeant) {
  EXPECT_EQ(SettingOf(*ReadPostgresUrl("postgresql://a,b/m"), "target_session_attrs"),
            "read-write");
}

class PostgresTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!OnPostgres()) {
      GTEST_SKIP() << "its server is started once, for all tests on PostgreSQL";
    }
    url_ = PostgresServer::Shared().MakeDatabase();
  }
  absl::Status Refusal(const std::string& cluster = "muster") {
    return PostgresEngine::Open(*ReadPostgresUrl(url_), cluster).status();
  }
  absl::StatusOr<std::unique_ptr<JobStore>> Open(const std::string& name) {
    return JobStore::Open(StorePlace{directory_ / name, url_, "muster", Scripts::kErased});
  }
  void Run(const std::string& sql) { PostgresServer::Shared().Run(url_, sql); }
  std::int64_t Count(const std::string& sql) {
    auto database = PostgresDatabase::Open(*ReadPostgresUrl(url_), "test");
    return (*database)->ReadInteger(sql).value_or(-1);
  }
  TempDirectory directory_;
  std::string url_;
};

TEST_F(PostgresTest, ValuesComeBackAsTheyWereBound) {
  auto database = PostgresDatabase::Open(*ReadPostgresUrl(url_), "test");
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE((*database)->Execute("CREATE TABLE t (id BIGINT, n BIGINT, x TEXT, b BYTEA)").ok());
  Statement insert(**database, "INSERT INTO t VALUES (?, ?, ?, ?)");
  const std::string quote = "'); DROP TABLE t; --?";
  const std::string bytes("a\0b", 3);
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  for (const int id : {1, 2, 3}) {  // sent whole, prepared, and prepared before
    ASSERT_TRUE(insert.Run(id, largest, quote, Blob{bytes}).ok());
  }
  ASSERT_TRUE(insert.Run(4, std::optional<std::int64_t>(), bytes, Blob{""}).ok());
  Statement rows(**database, "SELECT n, x, b FROM t WHERE x <> '?' ORDER BY id");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(*rows.Next());
    EXPECT_EQ(rows.Unsigned(0), largest);
    EXPECT_EQ(rows.Text(1), quote);
    EXPECT_EQ(rows.Bytes(2), bytes);
  }
  ASSERT_TRUE(*rows.Next());
  EXPECT_TRUE(rows.IsNull(0));
  EXPECT_EQ(rows.Text(1),
            "a\xEF\xBF\xBD"
            "b")
      << "no text of PostgreSQL's holds a NUL";
  EXPECT_EQ(rows.Bytes(2), "");
  EXPECT_FALSE(*rows.Next());
}

TEST_F(PostgresTest, APipelineThatFailsChangesNothingAndTheNextOneWorks) {
  auto database = PostgresDatabase::Open(*ReadPostgresUrl(url_), "test");
  ASSERT_TRUE((*database)->Execute("CREATE TABLE t (id BIGINT PRIMARY KEY)").ok());
  Statement insert(**database, "INSERT INTO t VALUES (?)");
  const auto write = [&](std::initializer_list<int> ids) {
    Transaction transaction(**database);
    EXPECT_TRUE(transaction.Begin(Transaction::Kind::kWrite).ok());
    for (const int id : ids) {
      EXPECT_TRUE(insert.Run(id).ok());
    }
    return transaction.Commit();
  };
  ASSERT_TRUE(write({1, 2, 3}).ok());
  EXPECT_TRUE(absl::IsInternal(write({4, 5, 1, 6, 7})));
  EXPECT_TRUE(write({8, 9, 10}).ok());
  EXPECT_EQ(Count("SELECT sum(id)::bigint FROM t"), 33);
}

TEST_F(PostgresTest, ASessionThatTheServerEndsInAPipelineIsAFailure) {
  for (int time = 0; time < 5; ++time) {
    auto database = PostgresDatabase::Open(*ReadPostgresUrl(url_), "test");
    ASSERT_TRUE((*database)->Execute("CREATE TABLE IF NOT EXISTS t (id BIGINT)").ok());
    Statement insert(**database, "INSERT INTO t VALUES (?)");
    Statement end(**database, "INSERT INTO t SELECT pg_terminate_backend(pg_backend_pid())::int");
    Transaction transaction(**database);
    ASSERT_TRUE(transaction.Begin(Transaction::Kind::kWrite).ok());
    (void)insert.Run(1);
    (void)end.Run();
    for (int i = 0; i < 50; ++i) {
      (void)insert.Run(i);
    }
    EXPECT_TRUE(absl::IsUnavailable(transaction.Commit())) << time;
  }
  EXPECT_EQ(Count("SELECT count(*) FROM t"), 0);
}

TEST_F(PostgresTest, ARowCanBeAskedForInTheMiddleOfAPipeline) {
  auto database = PostgresDatabase::Open(*ReadPostgresUrl(url_), "test");
  ASSERT_TRUE((*database)->Execute("CREATE TABLE t (id BIGINT PRIMARY KEY)").ok());
  Statement insert(**database, "INSERT INTO t VALUES (?)");
  Statement count(**database, "SELECT count(*) FROM t");
  Transaction transaction(**database);
  ASSERT_TRUE(transaction.Begin(Transaction::Kind::kWrite).ok());
  for (int id = 1; id <= 100; ++id) {
    ASSERT_TRUE(insert.Run(id).ok());
    if (id % 25 == 0) {
      count.Start();
      ASSERT_TRUE(*count.Next());
      EXPECT_EQ(count.Integer(0), id);
      count.Reset();
    }
  }
  EXPECT_TRUE(transaction.Commit().ok());
  EXPECT_EQ(Count("SELECT count(*) FROM t"), 100);
}

TEST_F(PostgresTest, TheDescriptionOfTheTablesIsWhatTheStepsMake) {
  ASSERT_TRUE(Refusal().ok());
  std::string described;
  for (const TableOf& table : Tables()) {
    absl::StrAppend(&described, table.name, ": ", absl::StrReplaceAll(table.columns, {{"\"", ""}}),
                    "\n");
  }
  auto database = PostgresDatabase::Open(*ReadPostgresUrl(url_), "test");
  std::string found;
  for (const TableOf& table : Tables()) {
    Statement columns(**database,
                      "SELECT string_agg(column_name, ', ' ORDER BY ordinal_position) "
                      "FROM information_schema.columns WHERE table_name = ?");
    columns.Start(table.name);
    ASSERT_TRUE(*columns.Next());
    absl::StrAppend(&found, table.name, ": ", std::string(columns.Text(0)), "\n");
  }
  EXPECT_EQ(found, described);
}

TEST_F(PostgresTest, ADatabaseOfANewerSchemaIsRefused) {
  ASSERT_TRUE(Refusal().ok());
  Run("UPDATE muster_leader SET schema_version = 99");
  EXPECT_THAT(std::string(Refusal().message()), HasSubstr("written by a newer Muster (schema 99"));
}

TEST_F(PostgresTest, AnotherClustersDatabaseIsRefusedAndNotWritten) {
  ASSERT_TRUE(Refusal().ok());
  EXPECT_THAT(std::string(Refusal("other").message()),
              HasSubstr("is the store of cluster muster, not of other: correct store or cluster"));
  EXPECT_EQ(Count("SELECT count(*) FROM muster_leader WHERE cluster = 'muster'"), 1);
}

TEST_F(PostgresTest, AnotherProgramsDatabaseIsRefusedAndNotWritten) {
  Run("CREATE TABLE theirs (x INT)");
  EXPECT_THAT(std::string(Refusal().message()), HasSubstr("holds tables that are not Muster's"));
  EXPECT_EQ(Count("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), 1);
}

TEST_F(PostgresTest, AHalfMigratedDatabaseIsRefused) {
  ASSERT_TRUE(Refusal().ok());
  Run("ALTER TABLE steps DROP COLUMN tasks");
  EXPECT_THAT(std::string(Refusal().message()),
              HasSubstr("half migrated: steps has no column tasks"));
}

TEST_F(PostgresTest, ADatabaseWithAnotherEncodingIsRefused) {
  url_ = PostgresServer::Shared().MakeDatabase("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  EXPECT_THAT(
      std::string(Refusal().message()),
      HasSubstr("its encoding is LATIN1, Muster's texts are UTF-8: make the database with"));
}

TEST_F(PostgresTest, AReadOnlyDatabaseIsRefused) {
  Run("ALTER ROLE muster SET default_transaction_read_only = on");
  const absl::Status status = Refusal();
  PostgresServer::Shared().Run(url_ + "?options=-c%20default_transaction_read_only%3Doff",
                               "ALTER ROLE muster SET default_transaction_read_only = off");
  EXPECT_THAT(std::string(status.message()), HasSubstr("is read-only: set default_transaction"));
}

TEST_F(PostgresTest, ARoleWithoutRightsIsRefusedInOneLine) {
  Run("DROP ROLE IF EXISTS ann");
  Run("CREATE ROLE ann LOGIN");
  const std::string name = url_.substr(url_.rfind('/') + 1);
  url_ = PostgresServer::Shared().UrlOf(name, "ann");
  const std::string said(Refusal().message());
  EXPECT_THAT(said, HasSubstr("permission denied for schema public; give the role the rights"));
  EXPECT_EQ(said.find('\n'), std::string::npos);
}

TEST_F(PostgresTest, AnAbsentServerOrDatabaseIsSaidInOneLine) {
  url_ = PostgresServer::Shared().UrlOf("nowhere");
  std::string said(Refusal().message());
  EXPECT_THAT(said, HasSubstr("database \"nowhere\" does not exist"));
  url_ = "postgresql://%2Fnowhere/m";
  absl::StrAppend(&said, std::string(Refusal().message()));
  EXPECT_THAT(said, HasSubstr("No such file or directory"));
  EXPECT_EQ(said.find('\n'), std::string::npos);
}

TEST_F(PostgresTest, OnlyTheLeaderWrites) {
  auto first = Open("first");
  auto second = Open("second");
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  BatchMaker make;
  const Batch batch = make.Of({Submitted(1, "")});
  EXPECT_TRUE(absl::IsFailedPrecondition((*first)->Commit({&batch, 1}))) << "nobody leads";
  EXPECT_TRUE(*(*first)->leadership()->TryTake("first", "a:1", hours(1), false));
  EXPECT_FALSE(*(*second)->leadership()->TryTake("second", "b:1", hours(1), false));
  ASSERT_TRUE((*first)->Load().ok());
  EXPECT_TRUE((*first)->Commit({&batch, 1}).ok());
  EXPECT_EQ((*second)->leadership()->Read()->holder, "first");
  EXPECT_EQ((*second)->leadership()->Read()->addresses, "a:1");
}

TEST_F(PostgresTest, ADeposedLeaderThatWritesNothingIsToldSoWhereItsAnswerRestsOnTheLead) {
  auto first = Open("first");
  auto second = Open("second");
  ASSERT_TRUE(*(*first)->leadership()->TryTake("first", "", milliseconds(1), false));
  Batch answer;
  EXPECT_TRUE((*first)->Commit({&answer, 1}).ok());
  answer.confirms = true;
  EXPECT_TRUE((*first)->Commit({&answer, 1}).ok());
  ASSERT_TRUE(*(*second)->leadership()->TryTake("second", "", hours(1), true));
  EXPECT_TRUE(absl::IsFailedPrecondition((*first)->Commit({&answer, 1})));
  EXPECT_TRUE((*second)->Commit({&answer, 1}).ok());
}

TEST_F(PostgresTest, ADeposedLeadersCommitFailsWholly) {
  auto first = Open("first");
  auto second = Open("second");
  ASSERT_TRUE(*(*first)->leadership()->TryTake("first", "", milliseconds(1), false));
  BatchMaker make;
  const Batch one = make.Of({Submitted(1, "")});
  ASSERT_TRUE((*first)->Commit({&one, 1}).ok());
  ASSERT_TRUE(*(*second)->leadership()->TryTake("second", "", hours(1), true));
  const Batch late = make.Of({Submitted(2, "")});
  EXPECT_TRUE(absl::IsFailedPrecondition((*first)->Commit({&late, 1})));
  EXPECT_FALSE(*(*first)->leadership()->Renew(hours(1)));
  ASSERT_TRUE((*second)->ContinueFrom(Version(1)).ok());
  BatchMaker theirs(1);
  const Batch next = theirs.Of({Submitted(2, "theirs")});
  EXPECT_TRUE((*second)->Commit({&next, 1}).ok());
  EXPECT_EQ((*first)->Load()->version, Version(2));
  EXPECT_EQ(*(*first)->FindToken("theirs"), JobId(2));
}

TEST_F(PostgresTest, WhatALeadersOldConnectionSendsLateIsRefused) {
  auto store = Open("first");
  ASSERT_TRUE(*(*store)->leadership()->TryTake("first", "", hours(1), false));
  auto old = PostgresDatabase::Open(*ReadPostgresUrl(url_), "old");
  Transaction late(**old);
  ASSERT_TRUE(late.Begin(Transaction::Kind::kWrite).ok());
  BatchMaker make;
  Batch twice = make.Of({Submitted(1, "")});
  twice.ended = {Ended(9, 9, "ann", "FAILED", 1)};
  EXPECT_FALSE((*store)->Commit({&twice, 1}).ok()) << "no such submission";
  ASSERT_TRUE((*store)->Load().ok()) << "from here on it is known what became of it";
  Statement fence(**old,
                  "SELECT 1 / coalesce((SELECT 1 FROM muster_leader WHERE epoch = 1 AND "
                  "session = 0 FOR SHARE), 0)");
  EXPECT_TRUE(fence.Run().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(late.Commit()));
}

TEST_F(PostgresTest, AWriterThatHangsInATransactionDoesNotKeepTheLead) {
  auto first = PostgresEngine::Open(*ReadPostgresUrl(url_), "muster");
  auto second = PostgresEngine::Open(*ReadPostgresUrl(url_), "muster");
  ASSERT_TRUE(*(*first)->leadership()->TryTake("first", "", milliseconds(1), false));
  ASSERT_TRUE((*first)->writer().Begin(Database::Kind::kWrite).ok());
  ASSERT_TRUE((*first)->Fence().ok());
  Statement one((*first)->writer(), "SELECT 1");
  ASSERT_TRUE(*one.Next()) << "the row is locked from here on";
  EXPECT_TRUE(*(*second)->leadership()->TryTake("second", "", hours(1), true));
  EXPECT_FALSE((*first)->writer().Commit().ok());
}

TEST_F(PostgresTest, OfTwoWhoSeeALeaseEndAtTheSameMomentOneLeadsAndIsNotDisturbed) {
  const std::vector<std::unique_ptr<PostgresEngine>> engines = [&] {
    std::vector<std::unique_ptr<PostgresEngine>> made;
    for (int i = 0; i < 3; ++i) {
      made.push_back(*PostgresEngine::Open(*ReadPostgresUrl(url_), "muster"));
    }
    return made;
  }();
  std::barrier lease_over(static_cast<std::ptrdiff_t>(engines.size()));
  std::atomic<int> leaders = 0;
  // What a controller does that has taken the lead: a commit at once.
  const auto write = [](PostgresEngine& engine) -> absl::Status {
    RETURN_IF_ERROR(engine.writer().Begin(Database::Kind::kWrite));
    RETURN_IF_ERROR(engine.Fence());
    Statement slowly(engine.writer(), "SELECT 1 FROM pg_sleep(0.005)");
    RETURN_IF_ERROR(slowly.Next().status());
    return engine.writer().Commit();
  };
  const auto compete = [&](int self) {
    PostgresEngine& engine = *engines[static_cast<std::size_t>(self)];
    for (int round = 0; round < 100; ++round) {
      lease_over.arrive_and_wait();
      const absl::StatusOr<bool> taken =
          engine.leadership()->TryTake(std::to_string(self), "", hours(1), false);
      EXPECT_TRUE(taken.ok()) << taken.status();
      if (taken.ok() && *taken) {
        ++leaders;
        const absl::Status written = write(engine);
        EXPECT_TRUE(written.ok()) << written;
      }
      lease_over.arrive_and_wait();
      EXPECT_EQ(leaders, round + 1);
      lease_over.arrive_and_wait();
      if (taken.ok() && *taken) {
        EXPECT_TRUE(engine.leadership()->Release("").ok());
      }
    }
  };
  std::vector<std::thread> standbys;
  for (int i = 0; i < static_cast<int>(engines.size()); ++i) {
    standbys.emplace_back(compete, i);
  }
  for (std::thread& standby : standbys) {
    standby.join();
  }
}

TEST_F(PostgresTest, NewsWakeWhoeverWaitsForThem) {
  auto store = Open("first");
  ASSERT_TRUE(*(*store)->leadership()->TryTake("first", "", hours(1), false));
  auto waiting = PostgresDatabase::Open(*ReadPostgresUrl(url_), "waits");
  Statement listen(**waiting, "LISTEN muster");
  ASSERT_TRUE(listen.Run().ok());
  EXPECT_FALSE(*(*waiting)->AwaitNotification(milliseconds(1)));
  BatchMaker make;
  const Batch batch = make.Of({Submitted(1, "")});
  ASSERT_TRUE((*store)->Commit({&batch, 1}).ok());
  EXPECT_TRUE(*(*waiting)->AwaitNotification(hours(1)));
}

TEST_F(PostgresTest, ControllersAgreeOnTheKeyThatWasProposedFirst) {
  auto first = Open("first");
  auto second = Open("second");
  EXPECT_EQ(*(*first)->leadership()->AgreeOnKey("one"), "one");
  EXPECT_EQ(*(*second)->leadership()->AgreeOnKey("two"), "one");
}

TEST_F(PostgresTest, TheBookOfTokensIsWrittenByWhoLeadsAndReadByAll) {
  auto first = Open("first");
  auto second = Open("second");
  EXPECT_TRUE(absl::IsUnavailable((*first)->leadership()->WriteTokens("nobody leads")));
  ASSERT_TRUE(*(*first)->leadership()->TryTake("first", "", hours(1), false));
  EXPECT_EQ(*(*second)->leadership()->ReadTokens(), "");
  EXPECT_TRUE((*first)->leadership()->WriteTokens("one").ok());
  EXPECT_EQ(*(*second)->leadership()->ReadTokens(), "one");
  ASSERT_TRUE(*(*second)->leadership()->TryTake("second", "", hours(1), true));
  EXPECT_TRUE(absl::IsUnavailable((*first)->leadership()->WriteTokens("late")));
  EXPECT_EQ(*(*first)->leadership()->ReadTokens(), "one");
}

TEST_F(PostgresTest, ARowThatIsOlderThanSharedTokensGetsItsColumn) {
  ASSERT_TRUE(Refusal().ok());
  Run("ALTER TABLE muster_leader DROP COLUMN tokens");
  ASSERT_TRUE(Refusal().ok());
  EXPECT_EQ(*(*Open("first"))->leadership()->ReadTokens(), "");
}

TEST_F(PostgresTest, ALeadThatIsHandedOverIsItsSuccessorsFirst) {
  auto first = Open("first");
  auto second = Open("second");
  auto third = Open("third");
  ASSERT_TRUE(*(*first)->leadership()->TryTake("first", "", hours(1), false));
  ASSERT_TRUE((*first)->leadership()->Release("third").ok());
  EXPECT_FALSE(*(*second)->leadership()->TryTake("second", "", hours(1), false));
  EXPECT_FALSE(*(*first)->leadership()->Renew(hours(1)));
  EXPECT_TRUE(*(*third)->leadership()->TryTake("third", "", hours(1), false));
  EXPECT_EQ((*first)->leadership()->Read()->epoch, 2U);
}

TEST_F(PostgresTest, AStoreGoesOnAfterItsServerWasAway) {
  auto store = Open("first");
  ASSERT_TRUE(*(*store)->leadership()->TryTake("first", "", hours(1), false));
  BatchMaker make;
  const Batch one = make.Of({Submitted(1, "")});
  ASSERT_TRUE((*store)->Commit({&one, 1}).ok());
  PostgresServer::Shared().Stop();
  const Batch two = make.Of({Submitted(2, "")});
  EXPECT_TRUE(absl::IsUnavailable((*store)->Commit({&two, 1})));
  EXPECT_TRUE(absl::IsUnavailable((*store)->Load().status()));
  EXPECT_TRUE(absl::IsUnavailable((*store)->Commit({&two, 1}))) << "not before Load has looked";
  PostgresServer::Shared().Start();
  EXPECT_EQ((*store)->Load()->version, Version(1));
  EXPECT_TRUE((*store)->Commit({&two, 1}).ok());
}

}  // namespace
}  // namespace muster::daemon
